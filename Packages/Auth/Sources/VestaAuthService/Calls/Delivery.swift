import VestaAuthBackend
import VestaBytes
import VestaCore
import VestaServiceInterop

/// A code that has been kept, and where it is to go.
struct OobMessage: Sendable {
  var requestType: OobRequestType
  var email: String
  var newEmail: String?
  var code: String
  var tenantID: String?

  /// The mailbox: that of the new address, where it is to be verified.
  var recipient: String { requestType == .verifyAndChangeEmail ? newEmail ?? email : email }
}

extension AuthOperation {
  /// Hands an e-mail to the sender; does nothing without one.
  func deliver(_ message: OobMessage?, settings: OobLinkSettings = OobLinkSettings()) async throws {
    guard let message else { return }
    do {
      try await core.sender.send(email(message, settings: settings))
    } catch {
      throw Self.unsent(error)
    }
  }

  /// The e-mail with a code.
  func email(_ message: OobMessage, settings: OobLinkSettings) -> EmailMessage {
    EmailMessage(
      recipient: message.recipient, requestType: message.requestType, email: message.email,
      newEmail: message.newEmail, code: message.code, link: link(message, settings: settings),
      locale: context.locale, tenantID: message.tenantID)
  }

  /// Hands six digits to the sender; a number for tests gets no message.
  func deliver(_ code: String, to number: String, sessionInfo: String) async throws {
    guard options.testPhoneNumbers[number] == nil else { return }
    do {
      try await core.sender.send(
        TextMessage(
          phoneNumber: number, code: code, sessionInfo: sessionInfo, locale: context.locale,
          tenantID: context.tenantID))
    } catch {
      throw Self.unsent(error)
    }
  }

  /// Logs why a sender failed; the caller learns only that it did, as the cause may name mailboxes and servers.
  private static func unsent(_ error: any Error) -> AuthServiceError {
    log.error("I-AUS000006", "The code sender failed. \(error)")
    return AuthServiceError(.unavailable, "The message could not be sent; the log of the service says why.")
  }

  /// The link of a message.
  func link(_ message: OobMessage, settings: OobLinkSettings) -> String {
    var parameters = [
      ("mode", message.requestType.linkMode), ("lang", context.locale ?? "en"), ("oobCode", message.code),
      ("apiKey", context.apiKey ?? "none"),
    ]
    if let url = settings.continueURL { parameters.append(("continueUrl", url)) }
    if let tenantID = message.tenantID { parameters.append(("tenantId", tenantID)) }
    let query = parameters.map { "\($0)=\(PercentEncoding.unreserved.encode($1))" }.joined(separator: "&")
    return options.actionURL + (options.actionURL.contains("?") ? "&" : "?") + query
  }
}

private let log = Logger(service: "VestaAuthService")
