import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// The remote services of one app, by address: one for each, whichever databases are in it.
final class FirestoreRemotes: FirestoreBackendSource {
  let origin: String
  private let service: RESTService
  private let options: FirestoreRemoteOptions
  private let remotes = Locked<[HTTPURL: FirestoreRemote]>([:])

  init(of service: RESTService, at origin: String, options: FirestoreRemoteOptions) {
    self.service = service
    self.origin = HTTPURL(origin).map { "\($0.scheme)://\($0.authority)" } ?? origin
    self.options = options
  }

  func backend(at origin: String) throws(FirestoreServiceError) -> any FirestoreBackend {
    guard let url = HTTPURL(origin), url.target == "/" else {
      throw FirestoreServiceError(.invalidArgument, "\"\(origin)\" is no address of a server.")
    }
    return remotes.withLock { remotes in
      if let remote = remotes[url] { return remote }
      var service = service
      service.origin = url
      let remote = FirestoreRemote(on: service, options: options)
      remotes[url] = remote
      return remote
    }
  }
}
