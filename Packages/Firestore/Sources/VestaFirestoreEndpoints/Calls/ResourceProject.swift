import VestaServiceInterop

/// The project of a resource name such as `projects/P/databases/D/documents`.
func project(of name: String) throws(ServiceStatus) -> String { String(try resource(name).project) }

/// The database of a resource name: `projects/P/databases/D`.
func database(of name: String) throws(ServiceStatus) -> String { String(try resource(name).database) }

/// The parts of a resource name that each call looks at, without an array of all its parts.
private func resource(_ name: String) throws(ServiceStatus) -> (project: Substring, database: Substring) {
  var name = name
  guard let (start, middle, end) = name.withUTF8({ places(in: $0) }) else {
    throw ServiceStatus(
      .invalidArgument, "The name \"\(name.prefix(200))\" does not begin with projects/<project>/databases/<database>."
    )
  }
  let utf8 = name.utf8
  let project = utf8.index(utf8.startIndex, offsetBy: start)..<utf8.index(utf8.startIndex, offsetBy: middle)
  return (name[project], name[..<utf8.index(utf8.startIndex, offsetBy: end)])
}

/// Where the project begins and ends, and where the database ends.
// Unsafe pointer, used while it is lent only.
private func places(in name: UnsafeBufferPointer<UInt8>) -> (start: Int, middle: Int, end: Int)? {
  func part(from start: Int) -> Int? {
    var end = start
    while end < name.count, name[end] != UInt8(ascii: "/") { end += 1 }
    return end > start ? end : nil
  }
  func follows(_ text: StaticString, at start: Int) -> Int? {
    let end = start + text.utf8CodeUnitCount
    guard end <= name.count else { return nil }
    for index in start..<end where name[index] != text.utf8Start[index - start] { return nil }
    return end
  }
  guard let start = follows("projects/", at: 0), let middle = part(from: start),
    let next = follows("/databases/", at: middle), let end = part(from: next)
  else { return nil }
  return (start, middle, end)
}

/// The status that a caller gets for an error.
func status(of error: any Error) -> ServiceStatus {
  switch error {
  case let error as any ServiceFailure: error.status
  case let error as ServiceStatus: error
  case let error as BytesFailure: ServiceStatus(.invalidArgument, error.message)
  case is CancellationError: ServiceStatus(.cancelled, "The call was cancelled.")
  default: ServiceStatus(.internal, "The call has failed.")
  }
}
