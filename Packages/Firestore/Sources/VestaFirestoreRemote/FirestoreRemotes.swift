import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// The remote services of one app, by address: one for each, whichever databases are in it.
final class FirestoreRemotes: FirestoreBackendSource {
  let origin: String
  private let client: any HTTPClient
  private let rest: RESTOptions
  private let options: FirestoreRemoteOptions
  private let remotes = Locked<[HTTPURL: FirestoreRemote]>([:])

  init(client: any HTTPClient, origin: String, rest: RESTOptions, options: FirestoreRemoteOptions) {
    self.client = client
    self.origin = HTTPURL(origin).map { "\($0.scheme)://\($0.authority)" } ?? origin
    self.rest = rest
    self.options = options
  }

  func backend(at origin: String) throws(FirestoreServiceError) -> any FirestoreBackend {
    guard let url = HTTPURL(origin), url.target == "/" else {
      throw FirestoreServiceError(.invalidArgument, "\"\(origin)\" is no address of a server.")
    }
    return remotes.withLock { remotes in
      if let remote = remotes[url] { return remote }
      let remote = FirestoreRemote(on: RESTService(client, at: url, options: rest), options: options)
      remotes[url] = remote
      return remote
    }
  }
}
