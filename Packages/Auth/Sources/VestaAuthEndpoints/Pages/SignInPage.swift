import VestaAuthBackend
import VestaBytes

/// The page on which a person chooses an account of another provider.
///
/// The provider is not asked: any account can be chosen, as in all calls of a server for development. The elements have
/// the identifiers that the test kits of Firebase's SDKs look for.
struct SignInPage: Sendable {
  let provider: String
  let accounts: [ProviderUserInfo]

  /// How many accounts a page has.
  static let limit = 100

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Auth Emulator IDP Login Widget</title>
    <link rel="stylesheet" href="handler.css">
    <h1>Sign in with <span class="js-provider-id">\(Self.escape(provider))</span></h1>
    <p id="outcome" role="status" hidden></p>
    <div id="content">
    <div id="accounts-list">
    <p class="js-accounts-help-text">\(hint)</p>
    <ul>
    \(accounts.map(Self.item).joined(separator: "\n"))
    </ul>
    <button id="add-account-button" class="js-new-account" type="button">Add new account</button>
    </div>
    \(Self.form)
    </div>
    <script src="handler.js"></script>
    </html>
    """
  }

  private var hint: String {
    accounts.isEmpty ? "There is no account of this provider yet." : "Choose an account, or add a new one."
  }

  private static let form = """
    <div id="add-user" hidden>
    <button id="autogen-button" type="button">Fill in something</button>
    <form id="main-form">
    <label>E-mail address <input id="email-input" type="text" autocomplete="off"></label>
    <label>Display name (optional) <input id="display-name-input" type="text" autocomplete="off"></label>
    <label>Screen name (optional) <input id="screen-name-input" type="text" autocomplete="off"></label>
    <label>Address of a picture (optional) <input id="profile-photo-input" type="text" autocomplete="off"></label>
    <button id="back-button" type="button">Back</button>
    <button id="sign-in" type="submit">Sign in</button>
    </form>
    </div>
    """

  private static func item(_ account: ProviderUserInfo) -> String {
    let token = PercentEncoding.unreserved.encode(
      String(decoding: (try? claims(of: account).json()) ?? [], as: UTF8.self))
    let email = escape(account.email ?? "")
    return """
      <li><button class="account js-reuse-account" type="button" data-id-token="\(token)" data-email="\(email)">\
      \(escape(account.displayName ?? "(no display name)"))<small>\(email)</small></button></li>
      """
  }

  /// The claims about the account that an ID token of the provider would have.
  private static func claims(of account: ProviderUserInfo) -> JSONObject {
    var claims: JSONObject = ["sub": .string(account.rawID), "iss": "", "aud": "", "exp": 0, "iat": 0]
    claims["name"] = account.displayName.map { .string($0) }
    claims["screen_name"] = account.screenName.map { .string($0) }
    claims["email"] = account.email.map { .string($0) }
    claims["email_verified"] = true
    claims["picture"] = account.photoURL.map { .string($0) }
    return claims
  }

  /// Text as part of HTML, in attributes too.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
