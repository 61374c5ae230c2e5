import VestaServiceInterop

/// The project of a resource name such as `projects/P/databases/D/documents`.
func project(of name: String) throws(ServiceStatus) -> String {
  let parts = name.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
  guard parts.count >= 4, parts[0].elementsEqual("projects".utf8), parts[2].elementsEqual("databases".utf8),
    !parts[1].isEmpty, !parts[3].isEmpty
  else {
    throw ServiceStatus(
      .invalidArgument, "The name \"\(name.prefix(200))\" does not begin with projects/<project>/databases/<database>.")
  }
  return String(Substring(parts[1]))
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
