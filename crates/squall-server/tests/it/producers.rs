//! Idempotent producers: a retry has no second effect, and an old instance is fenced off.

use squall_testkit::http::{Request, Response};

use crate::support::{TestServer, assert_problem, at, path, post};

fn claim(request: Request, epoch: &str, seq: &str) -> Request {
    request.header("Producer-Id", "w").header("Producer-Epoch", epoch).header("Producer-Seq", seq)
}

struct Stage {
    server: TestServer,
}

impl Stage {
    fn new() -> Self {
        let server = TestServer::start();
        server.create("s", "text/plain");
        Self { server }
    }

    fn append(&self, epoch: u64, seq: u64, body: &str) -> Response {
        let request = post("s").header("Content-Type", "text/plain").body(body);
        self.server.call(&claim(request, &epoch.to_string(), &seq.to_string()))
    }

    fn check(&self, (epoch, seq): (u64, u64), status: u16, accepted: (&str, &str)) {
        let found = self.append(epoch, seq, "x");
        assert_eq!(found.status, status, "{epoch} {seq}: {}", found.text());
        let shown = (found.header("Producer-Epoch"), found.header("Producer-Seq"));
        assert_eq!(shown, (Some(accepted.0), Some(accepted.1)));
    }

    fn text(&self) -> String {
        self.server.read(&path("s")).text()
    }
}

#[test]
fn a_new_append_is_200_and_a_repeated_one_204() {
    let stage = Stage::new();
    stage.check((0, 0), 200, ("0", "0"));
    stage.check((0, 1), 200, ("0", "1"));
    // The answer says how far the producer has come, not what was repeated.
    stage.check((0, 0), 204, ("0", "1"));
    stage.check((0, 1), 204, ("0", "1"));
    assert_eq!(stage.text(), "xx");
    let again = stage.append(0, 1, "quite another body");
    assert_eq!(again.header("Stream-Next-Offset"), Some(&*at(2)));
    assert_eq!(stage.text(), "xx");
}

#[test]
fn a_gap_says_what_is_expected() {
    let stage = Stage::new();
    let gap = |found: &Response, expected: &str, received: &str| {
        assert_problem(found, 409, "producer_gap");
        assert_eq!(found.header("Producer-Expected-Seq"), Some(expected));
        assert_eq!(found.header("Producer-Received-Seq"), Some(received));
    };
    gap(&stage.append(0, 1, "x"), "0", "1");
    stage.check((0, 0), 200, ("0", "0"));
    gap(&stage.append(0, 7, "x"), "1", "7");
    stage.check((0, 1), 200, ("0", "1"));
    assert_eq!(stage.text(), "xx");
}

#[test]
fn a_later_epoch_fences_the_earlier_ones_off() {
    let stage = Stage::new();
    stage.check((3, 0), 200, ("3", "0"));
    assert_problem(&stage.append(4, 1, "x"), 400, "producer_epoch_start");
    stage.check((4, 0), 200, ("4", "0"));
    for seq in [0, 1] {
        let fenced = stage.append(3, seq, "x");
        assert_problem(&fenced, 403, "producer_fenced");
        assert_eq!(fenced.header("Producer-Epoch"), Some("4"));
    }
    assert_eq!(stage.text(), "xx");
}

#[test]
fn a_refused_append_does_not_count() {
    let stage = Stage::new();
    stage.check((0, 0), 200, ("0", "0"));
    let html = post("s").header("Content-Type", "text/html").body("x");
    assert_problem(&stage.server.call(&claim(html, "0", "1")), 409, "content_type_mismatch");
    let empty = post("s").header("Content-Type", "text/plain");
    assert_problem(&stage.server.call(&claim(empty, "0", "1")), 400, "empty_body");
    stage.check((0, 1), 200, ("0", "1"));
}

#[test]
fn the_three_headers_go_together_and_hold_whole_numbers() {
    let stage = Stage::new();
    let body = || post("s").header("Content-Type", "text/plain").body("x");
    let wrong = [
        body().header("Producer-Id", "w"),
        body().header("Producer-Id", "w").header("Producer-Epoch", "0"),
        body().header("Producer-Epoch", "0").header("Producer-Seq", "0"),
        claim(body(), "0", "1abc"),
        claim(body(), "0", "1.0"),
        claim(body(), "-1", "0"),
        claim(body(), "+1", "0"),
        claim(body(), "", "0"),
        claim(body(), "9007199254740992", "0"),
        claim(body(), "0", "0").header("Producer-Seq", "1"),
        body().header("Producer-Id", "").header("Producer-Epoch", "0").header("Producer-Seq", "0"),
    ];
    for request in wrong {
        assert_problem(&stage.server.call(&request), 400, "bad_header");
    }
    assert_eq!(stage.text(), "");
    assert_eq!(stage.server.call(&claim(body(), "9007199254740991", "0")).status, 200);
}

/// A duplicate is known before `Stream-Seq` is compared: the first attempt set it.
#[test]
fn a_repeated_append_with_its_stream_seq_stands() {
    let stage = Stage::new();
    let request = || {
        let request = post("s").header("Content-Type", "text/plain").header("Stream-Seq", "1");
        claim(request.body("x"), "0", "0")
    };
    assert_eq!(stage.server.call(&request()).status, 200);
    assert_eq!(stage.server.call(&request()).status, 204);
    assert_eq!(stage.text(), "x");
}

#[test]
fn a_sequence_counts_requests_not_events() {
    let server = TestServer::start();
    server.create("s", "application/json");
    for seq in ["0", "1"] {
        let request = post("s").header("Content-Type", "application/json").body("[1,2]");
        assert_eq!(server.call(&claim(request, "0", seq)).status, 200);
    }
    assert_eq!(server.read(&path("s")).text(), "[1,2,1,2]");
}

#[test]
fn a_producer_may_close_and_repeat_just_that() {
    let stage = Stage::new();
    let closing = |seq: &str, body: &str| {
        let request =
            post("s").header("Content-Type", "text/plain").header("Stream-Closed", "true");
        stage.server.call(&claim(request.body(body), "0", seq))
    };
    let closed = closing("0", "end");
    assert_eq!((closed.status, closed.header("Stream-Closed")), (200, Some("true")));
    for body in ["end", "another"] {
        let again = closing("0", body);
        assert_eq!((again.status, again.header("Stream-Closed")), (204, Some("true")));
        assert_eq!(again.header("Stream-Next-Offset"), Some(&*at(3)));
    }
    assert_problem(&closing("1", "more"), 409, "stream_closed");
    assert_problem(&stage.append(0, 0, "end"), 409, "stream_closed");
    assert_eq!(stage.text(), "end");
}

/// There is nothing new to tell of, but the sequence number is used up all the same.
#[test]
fn a_mere_close_of_a_producer_is_204_and_counts() {
    let stage = Stage::new();
    stage.check((0, 0), 200, ("0", "0"));
    let close = || claim(post("s").header("Stream-Closed", "true"), "0", "1");
    for _ in 0..2 {
        let found = stage.server.call(&close());
        assert_eq!((found.status, found.header("Stream-Closed")), (204, Some("true")));
        assert_eq!(found.header("Producer-Seq"), Some("1"));
    }
    let gap = claim(post("s").header("Stream-Closed", "true"), "0", "2");
    assert_problem(&stage.server.call(&gap), 409, "stream_closed");
}
