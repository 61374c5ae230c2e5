import Testing

/// All suites of the store, one test after the other: each keeps the disk and the few threads of the tests busy, and
/// together they would only wait for one another.
@Suite(.serialized) enum OneAtATime {}
