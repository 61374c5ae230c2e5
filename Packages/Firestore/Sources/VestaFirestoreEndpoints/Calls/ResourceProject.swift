import VestaServiceInterop

/// The project of a resource name such as `projects/P/databases/D/documents`.
func project(of name: String) throws(ServiceStatus) -> String { String(try resource(name).project) }

/// The database of a resource name: `projects/P/databases/D`.
func database(of name: String) throws(ServiceStatus) -> String { String(try resource(name).database) }

/// The parts of a resource name that each call looks at, without an array of all its parts.
private func resource(_ name: String) throws(ServiceStatus) -> (project: Substring, database: Substring) {
  let slash = UInt8(ascii: "/")
  let (before, between) = ("projects/", "/databases/")
  if name.utf8.starts(with: before.utf8) {
    let project = name.utf8.dropFirst(before.utf8.count).prefix { $0 != slash }
    let rest = name.utf8[project.endIndex...]
    let database = rest.dropFirst(between.utf8.count).prefix { $0 != slash }
    if !project.isEmpty, !database.isEmpty, rest.starts(with: between.utf8) {
      return (Substring(project), name[..<database.endIndex])
    }
  }
  throw ServiceStatus(
    .invalidArgument, "The name \"\(name.prefix(200))\" does not begin with projects/<project>/databases/<database>.")
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
