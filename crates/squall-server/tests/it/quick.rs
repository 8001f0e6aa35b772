//! Plain requests for `/`, which are answered before hyper sees them, are answered alike.

use squall_testkit::http::{Request, Response};

use crate::raw::{exchange, statuses};
use crate::support::TestServer;

const PLAIN: &str = "GET / HTTP/1.1\r\nHost: ADDRESS\r\n\r\n";

fn lines(response: &Response) -> Vec<(String, String)> {
    let mut lines = response.headers.clone();
    lines.retain(|(name, _)| name != "date");
    lines.sort();
    lines
}

#[test]
fn a_plain_request_and_one_with_more_in_it_get_the_same_answer() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body("event"));
    // The first plain request brings the event into memory.
    for _ in 0..2 {
        let plain = server.call(&Request::new("GET", "/"));
        let other = server.call(&Request::new("GET", "/").header("X-More", "1"));
        assert_eq!((plain.status, &plain.body[..]), (200, &b"event"[..]));
        assert_eq!((plain.status, &plain.body), (other.status, &other.body));
        assert_eq!(lines(&plain), lines(&other));
        assert!(plain.header("date").is_some());
    }
}

#[test]
fn plain_and_other_requests_mix_in_one_write_and_in_pieces() {
    let server = TestServer::start();
    server.call(&Request::new("POST", "/").body("event"));
    let plain = PLAIN.replace("ADDRESS", &server.address.to_string());
    let post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nnew";
    let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let wire = [&plain, &plain, post, &plain, &plain, last].concat();
    let answers = exchange(&server, &wire);
    assert_eq!(statuses(&answers), [200; 6], "{answers}");
    let at = |text: &str| answers.find(text).unwrap();
    assert!(at("event") < at("Success") && at("Success") < at("new"), "{answers}");
    for cut in (1..wire.len()).step_by(7) {
        let mut connection = server.connect();
        connection.send_bytes(&wire.as_bytes()[..cut]).unwrap();
        connection.send_bytes(&wire.as_bytes()[cut..]).unwrap();
        for method in ["GET", "GET", "POST", "GET", "GET", "GET"] {
            assert_eq!(connection.receive(method).unwrap().status, 200, "cut at {cut}");
        }
    }
}
