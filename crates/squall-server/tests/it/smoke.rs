//! One of everything.

use squall_testkit::http::Request;

use crate::support::TestServer;

#[test]
fn append_read_follow() {
    let server = TestServer::start();
    assert_eq!(server.call(&Request::new("GET", "/")).status, 204);
    let posted = server.call(&Request::new("POST", "/").body("hello"));
    assert_eq!((posted.status, &posted.body[..]), (200, &b"Success"[..]));
    let newest = server.call(&Request::new("GET", "/"));
    assert_eq!((newest.status, &newest.body[..]), (200, &b"hello"[..]));
    let mut follow = server.connect();
    follow.send(&Request::new("GET", "/stream")).unwrap();
    assert_eq!(follow.receive_head().unwrap().status, 200);
    let chunk = String::from_utf8(follow.receive_chunk().unwrap()).unwrap();
    assert_eq!(chunk, "id: 0000000000000000_0000000000000005\ndata:hello\n\n");
    server.call(&Request::new("POST", "/").body(" world\n"));
    let chunk = String::from_utf8(follow.receive_chunk().unwrap()).unwrap();
    assert_eq!(chunk, "id: 0000000000000000_0000000000000012\ndata:  world\ndata:\n\n");
}
