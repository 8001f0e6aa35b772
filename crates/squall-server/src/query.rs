//! The query of a request.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::problem::{ErrorCode, Problem};

/// Parameters in the order in which they came.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    parameters: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    /// Reads `name=value` pairs separated by `&`.
    pub(crate) fn parse(query: Option<&'a str>) -> Result<Self, Problem> {
        let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let parameters = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        Ok(Self { parameters: parameters.collect::<Result<_, Problem>>()? })
    }

    /// The value of a parameter that may be given once.
    pub(crate) fn single(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.parameters.iter().filter(|(found, _)| found == name);
        match (values.next(), values.next()) {
            (_, Some(_)) => {
                Err(Problem::new(ErrorCode::BadQuery, format!("{name} is given more than once")))
            }
            (found, None) => Ok(found.map(|(_, value)| &**value)),
        }
    }

    /// A parameter that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.single(name)? else {
            return Ok(None);
        };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        number.map(Some).ok_or_else(|| {
            Problem::new(ErrorCode::BadQuery, format!("{name} is {text:?}; write a whole number"))
        })
    }
}

fn decode(text: &str) -> Result<Cow<'_, str>, Problem> {
    let decoded = if text.contains('+') {
        let spaced = text.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8().map(|text| Cow::Owned(text.into_owned()))
    } else {
        percent_decode_str(text).decode_utf8()
    };
    decoded
        .ok()
        .ok_or_else(|| Problem::new(ErrorCode::BadQuery, "the query is not UTF-8 after decoding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_unknown_ones_do_no_harm() {
        let query = Query::parse(Some("a=1&b=x%20y+z&&c&d=%C3%A9&a%62=7")).unwrap();
        assert_eq!(query.single("a").unwrap(), Some("1"));
        assert_eq!(query.single("b").unwrap(), Some("x y z"));
        assert_eq!(query.single("c").unwrap(), Some(""));
        assert_eq!(query.single("d").unwrap(), Some("é"));
        assert_eq!(query.single("ab").unwrap(), Some("7"));
        assert_eq!(query.single("missing").unwrap(), None);
        assert_eq!(query.number("a").unwrap(), Some(1));
        assert!(query.number("d").is_err());
    }

    #[test]
    fn doubled_parameters_and_broken_text_are_refused() {
        let query = Query::parse(Some("offset=1&offset=2")).unwrap();
        assert!(query.single("offset").is_err());
        assert!(Query::parse(Some("a=%ff")).is_err());
    }
}
