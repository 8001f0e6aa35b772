//! Bodies of many lengths, both ways.

use squall_load::spec::{BodySpec, LoadSpec};
use squall_testkit::scripted::{After, Script, ScriptedServer, Step, chunked, reply};

use crate::support::{answering, assert_all_ok, bodies, expect_body, load, playing, run};

const MIB: usize = 1 << 20;

/// Bytes that are not all the same, so that a part in the wrong place shows.
fn counting(bytes: usize) -> Vec<u8> {
    (0..=250_u8).cycle().take(bytes).collect()
}

/// Lengths of bodies may differ from reply to reply (ab counts that as a failure: `ab -l`).
#[test]
fn bodies_of_any_length_pass_and_are_measured() {
    let lengths = [0, 1, 100, 70_000, 1];
    let steps: Vec<Step> = lengths
        .iter()
        .enumerate()
        .flat_map(|(number, length)| {
            let body = counting(*length);
            let bytes = if number % 2 == 0 { reply(200, body) } else { chunked(200, &[body]) };
            [Step::Request, Step::Send(bytes)]
        })
        .collect();
    for pipeline in [1, 5] {
        let script = Script::new().connection(steps.clone(), After::Repeat);
        let server = ScriptedServer::start(script);
        let record = run(&LoadSpec { pipeline, ..load(&server.url("/"), 10) });
        assert_all_ok(&record, 10);
        let body = record.body.unwrap();
        assert_eq!((body.bytes_min, body.bytes_max), (0, 70_000));
        assert_eq!(body.bytes_mean, 70_102.0 / 5.0);
    }
}

#[test]
fn a_reply_of_8_mib_is_read_whole() {
    let body = counting(8 * MIB);
    let check = |server: ScriptedServer| {
        let spec = LoadSpec { expect: expect_body(body.clone()), ..load(&server.url("/"), 2) };
        let record = run(&spec);
        assert_all_ok(&record, 2);
        assert_eq!(record.body.unwrap().bytes_min, 8 * MIB as u64);
        assert!(record.bytes.received > 16 * MIB as u64, "{:?}", record.bytes);
    };
    check(answering(reply(200, &body)));
    check(answering(chunked(200, &body.chunks(100_000).collect::<Vec<_>>())));
    let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    check(playing([Step::Request, Step::Send([&head[..], &body].concat())]));
}

/// What the kernel does not take at once is kept and sent when it does.
#[test]
fn a_request_of_8_mib_is_sent_whole() {
    let body = counting(8 * MIB);
    let server = ScriptedServer::start(
        Script::new().each_connection([Step::Request, Step::Echo]).then(After::Repeat),
    );
    let spec = LoadSpec {
        body: BodySpec::Bytes(body.clone()),
        expect: expect_body(body.clone()),
        ..load(&server.url("/"), 2)
    };
    let record = run(&spec);
    assert_all_ok(&record, 2);
    assert!(record.bytes.sent > 16 * MIB as u64, "{:?}", record.bytes);
    assert!(bodies(&server.stop()).iter().all(|sent| *sent == body));
}

/// Both sides have more to send than the kernel holds, so neither may wait for the other.
#[test]
fn pipelined_requests_of_1_mib_do_not_lock_up_with_their_replies() {
    let body = counting(MIB);
    let server = ScriptedServer::start(
        Script::new().each_connection([Step::Request, Step::Echo]).then(After::Repeat),
    );
    let spec = LoadSpec {
        pipeline: 8,
        body: BodySpec::Bytes(body.clone()),
        expect: expect_body(body),
        ..load(&server.url("/"), 16)
    };
    assert_all_ok(&run(&spec), 16);
}
