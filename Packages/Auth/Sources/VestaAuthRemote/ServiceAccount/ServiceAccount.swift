import VestaBytes
public import VestaServiceInterop

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The key of a service account, as its key file has it.
///
/// The holder of the file administrates the project: keep it out of repositories and images, and readable for the
/// program alone. Neither the description nor a mirror shows the private key.
public struct ServiceAccount: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The address that names the account, such as `admin@demo.iam.gserviceaccount.com`.
  public var clientEmail: String

  /// The id of the key.
  public var privateKeyID: String

  /// The private key in PEM.
  public var privateKey: String

  /// The project of the account.
  public var projectID: String?

  /// The address at which a signed assertion is exchanged for an access token.
  public var tokenURI: String

  /// An account by its parts.
  ///
  /// - Parameters:
  ///   - clientEmail: The address that names the account.
  ///   - privateKeyID: The id of the key.
  ///   - privateKey: The private key in PEM.
  ///   - projectID: The project of the account.
  ///   - tokenURI: The address of the exchange; Google's unless given.
  public init(
    clientEmail: String, privateKeyID: String, privateKey: String, projectID: String? = nil,
    tokenURI: String = "https://oauth2.googleapis.com/token"
  ) {
    self.clientEmail = clientEmail
    self.privateKeyID = privateKeyID
    self.privateKey = privateKey
    self.projectID = projectID
    self.tokenURI = tokenURI
  }

  /// An account of the JSON of a key file.
  ///
  /// - Throws: `ServiceStatus` with a sentence that names what is missing, and nothing of the file.
  public init(json: [UInt8]) throws(ServiceStatus) {
    guard let object = try? JSONObject(json: json, limits: JSONLimits(maximumSize: 1 << 16)) else {
      throw Self.malformed("it is no JSON object")
    }
    guard object["type"]?.string == "service_account" else { throw Self.malformed("its type is not service_account") }
    func text(_ name: String) throws(ServiceStatus) -> String {
      guard let text = object[name]?.string, !text.isEmpty else { throw Self.malformed("it has no \(name)") }
      return text
    }
    self.init(
      clientEmail: try text("client_email"), privateKeyID: try text("private_key_id"),
      privateKey: try text("private_key"), projectID: object["project_id"]?.string)
    if let address = object["token_uri"]?.string, !address.isEmpty { tokenURI = address }
  }

  /// The account of the file that the environment variable `GOOGLE_APPLICATION_CREDENTIALS` names; `nil` without it.
  ///
  /// - Parameter environment: The variables.
  /// - Throws: `ServiceStatus` for a file that cannot be read, or is no key file.
  public static func ofEnvironment(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ServiceStatus) -> ServiceAccount? {
    guard let path = environment["GOOGLE_APPLICATION_CREDENTIALS"], !path.isEmpty else { return nil }
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      throw ServiceStatus(
        .failedPrecondition, "GOOGLE_APPLICATION_CREDENTIALS names \(path), which cannot be read.")
    }
    return try ServiceAccount(json: Array(data))
  }

  private static func malformed(_ why: String) -> ServiceStatus {
    ServiceStatus(.failedPrecondition, "The key file of a service account cannot be used: \(why).")
  }

  /// The address and the id of the key.
  public var description: String { "\(clientEmail), key \(privateKeyID)" }

  /// The same.
  public var customMirror: Mirror { Mirror(self, children: ["account": description]) }
}
