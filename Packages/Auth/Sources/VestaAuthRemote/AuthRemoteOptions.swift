public import VestaTransportInterop

/// The settings of an ``AuthRemote``; an app brings its own by a component that provides them.
public struct AuthRemoteOptions: Sendable {
  /// Whether one server has all services: the path of a request then begins with the host that it stands for, such as
  /// `/identitytoolkit.googleapis.com/v1/accounts:signUp`, as emulators and `vesta` expect it.
  public var hasOneOrigin: Bool

  /// The address of the exchange of refresh tokens, where it is another one, as at Firebase.
  public var tokenOrigin: HTTPURL?

  /// The address of the public keys, where it is another one, as at Firebase.
  public var keyOrigin: HTTPURL?

  /// The name and the version of this client, as `x-client-version` has them.
  public var clientVersion: String?

  /// Whether the server is asked for the codes that it has sent; a service in production records none.
  public var recordsCodes: Bool

  /// Settings.
  ///
  /// - Parameters:
  ///   - hasOneOrigin: Whether one server has all services.
  ///   - recordsCodes: Whether the server is asked for the codes that it has sent.
  public init(hasOneOrigin: Bool = true, recordsCodes: Bool = true) {
    self.hasOneOrigin = hasOneOrigin
    self.recordsCodes = recordsCodes
  }

  /// The settings for Firebase.
  public static var firebase: AuthRemoteOptions {
    var options = AuthRemoteOptions(hasOneOrigin: false, recordsCodes: false)
    options.tokenOrigin = HTTPURL("https://securetoken.googleapis.com")
    options.keyOrigin = HTTPURL("https://www.googleapis.com")
    return options
  }
}
