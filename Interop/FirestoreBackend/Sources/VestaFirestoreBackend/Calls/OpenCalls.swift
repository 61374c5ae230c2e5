/// A call that follows targets; after `finish()` it ends at once.
///
/// A caller that does not read gets `RESOURCE_EXHAUSTED`; it listens again with its resume tokens and misses nothing.
public typealias ListenCall = DuplexCall<ListenRequest, ListenResponse>

/// A call that writes, with several requests on their way; after `finish()` it ends with the answer to the last one.
public typealias WriteCall = DuplexCall<WriteRequest, WriteResponse>
