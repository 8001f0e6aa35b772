//! Error numbers of sockets: their names, and a plain sentence for those that people meet.

use rustix::io::Errno;

/// What a socket can give, from connect(2), accept(2), recv(2), send(2), socket(2), bind(2).
const NAMES: &[(Errno, &str)] = &[
    (Errno::CONNREFUSED, "ECONNREFUSED"),
    (Errno::CONNRESET, "ECONNRESET"),
    (Errno::PIPE, "EPIPE"),
    (Errno::TIMEDOUT, "ETIMEDOUT"),
    (Errno::ADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NFILE, "ENFILE"),
    (Errno::HOSTUNREACH, "EHOSTUNREACH"),
    (Errno::NETUNREACH, "ENETUNREACH"),
    (Errno::NETDOWN, "ENETDOWN"),
    (Errno::NETRESET, "ENETRESET"),
    (Errno::HOSTDOWN, "EHOSTDOWN"),
    (Errno::CONNABORTED, "ECONNABORTED"),
    (Errno::SHUTDOWN, "ESHUTDOWN"),
    (Errno::NOTCONN, "ENOTCONN"),
    (Errno::ISCONN, "EISCONN"),
    (Errno::INPROGRESS, "EINPROGRESS"),
    (Errno::ALREADY, "EALREADY"),
    (Errno::ADDRINUSE, "EADDRINUSE"),
    (Errno::AFNOSUPPORT, "EAFNOSUPPORT"),
    (Errno::PROTONOSUPPORT, "EPROTONOSUPPORT"),
    (Errno::PROTOTYPE, "EPROTOTYPE"),
    (Errno::PROTO, "EPROTO"),
    (Errno::NOPROTOOPT, "ENOPROTOOPT"),
    (Errno::SOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
    (Errno::OPNOTSUPP, "EOPNOTSUPP"),
    (Errno::DESTADDRREQ, "EDESTADDRREQ"),
    (Errno::MSGSIZE, "EMSGSIZE"),
    (Errno::NOBUFS, "ENOBUFS"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NOTSOCK, "ENOTSOCK"),
    (Errno::ACCESS, "EACCES"),
    (Errno::PERM, "EPERM"),
    (Errno::NOENT, "ENOENT"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::LOOP, "ELOOP"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::ROFS, "EROFS"),
    (Errno::INTR, "EINTR"),
    (Errno::INVAL, "EINVAL"),
    (Errno::BADF, "EBADF"),
    (Errno::FAULT, "EFAULT"),
    (Errno::IO, "EIO"),
];

/// The symbol of an error number, such as `ECONNREFUSED`; `errno` for one that no socket gives.
#[must_use]
pub fn name(raw: i32) -> &'static str {
    NAMES.iter().find(|(errno, _)| errno.raw_os_error() == raw).map_or("errno", |&(_, name)| name)
}

/// What the error most likely means for someone who measures a server.
#[must_use]
pub fn explain(name: &str) -> Option<&'static str> {
    Some(match name {
        "ECONNREFUSED" => "nothing listens there: is the server running, and on that port?",
        "ECONNRESET" => "the server cut the connection: it may have crashed, or shed the load",
        "EPIPE" => "the server had closed the connection before the request was sent",
        "ECONNABORTED" => "the connection was given up before it was ready",
        "ETIMEDOUT" => {
            "the server's host did not answer: a firewall may drop packets, or its backlog is full"
        }
        "EADDRNOTAVAIL" => "no local port was free for another connection to that address",
        "EMFILE" => "this process has as many files open as it may: raise `ulimit -n`",
        "ENFILE" => "the whole machine has as many files open as it may: raise fs.file-max",
        "EHOSTUNREACH" => "no way leads to that host: is it up, and on this network?",
        "ENETUNREACH" => "no way leads to that network: is there a route, or IPv6 at all?",
        "ENETDOWN" => "the network interface is down",
        "EACCES" => "this user may not connect there: look at the socket's file or a firewall",
        "EPERM" => "a rule of this machine forbids it, most likely a firewall",
        "ENOENT" => "there is no Unix socket with that path: is the server running?",
        "EAGAIN" => {
            "the Unix socket's backlog is full: the server accepts more slowly than we connect"
        }
        "EADDRINUSE" => "another process uses that address, or the local port asked for is taken",
        "EAFNOSUPPORT" => "this machine does not have that kind of address, such as IPv6",
        "ENOBUFS" | "ENOMEM" => "the kernel has no memory left for another socket",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_symbol() {
        let check = |raw: i32, expected: &str| assert_eq!(name(raw), expected, "{raw}");
        check(Errno::CONNREFUSED.raw_os_error(), "ECONNREFUSED");
        check(Errno::WOULDBLOCK.raw_os_error(), "EAGAIN");
        check(Errno::ACCESS.raw_os_error(), "EACCES");
        check(0, "errno");
        check(-1, "errno");
        check(i32::MAX, "errno");
    }

    #[test]
    fn every_number_and_symbol_stands_once() {
        for (place, (errno, symbol)) in NAMES.iter().enumerate() {
            let rest = &NAMES[place + 1..];
            assert!(rest.iter().all(|(other, name)| other != errno && name != symbol), "{symbol}");
        }
    }

    #[test]
    fn common_errors_are_explained_and_others_are_not() {
        let common = [
            "ECONNREFUSED",
            "EADDRNOTAVAIL",
            "EMFILE",
            "ENFILE",
            "ETIMEDOUT",
            "EHOSTUNREACH",
            "ENETUNREACH",
            "EACCES",
            "ENOENT",
            "ECONNRESET",
            "EPIPE",
            "EAGAIN",
        ];
        for symbol in common {
            assert!(explain(symbol).is_some(), "{symbol}");
            assert!(NAMES.iter().any(|&(_, name)| name == symbol), "{symbol}");
        }
        assert_eq!(explain("errno"), None);
        assert_eq!(explain(""), None);
    }
}
