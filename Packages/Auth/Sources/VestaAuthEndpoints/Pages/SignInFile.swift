import VestaTransportInterop

/// A file of the pages for sign-in that is the same in all projects.
enum SignInFile: String, Sendable, Hashable {
  case handlerScript = "handler.js"
  case style = "handler.css"
  /// The page that apps have in a frame.
  case frame = "iframe"
  case frameScript = "iframe.js"

  var response: HTTPResponse {
    switch self {
    case .handlerScript: Self.response(SignInScripts.handler, type: "text/javascript")
    case .frameScript: Self.response(SignInScripts.frame, type: "text/javascript")
    case .style: Self.response(SignInScripts.style, type: "text/css")
    case .frame: Self.page(Self.frameHTML, policy: Self.framePolicy)
    }
  }

  /// The page of a handler, which no page may have in a frame.
  static func handler(_ html: String, status: HTTPStatus = .ok) -> HTTPResponse {
    var response = page(html, policy: handlerPolicy)
    response.status = status
    return response
  }

  private static let handlerPolicy = """
    default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'
    """

  /// Google's library has its parts below its own host.
  private static let framePolicy =
    "default-src 'none'; script-src 'self' https://apis.google.com; base-uri 'none'; form-action 'none'"

  private static let frameHTML = """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <title>Auth Emulator Helper Iframe</title>
    <script src="iframe.js"></script>
    <script src="https://apis.google.com/js/api.js"></script>
    </html>
    """

  private static func page(_ html: String, policy: String) -> HTTPResponse {
    var response = response(html, type: "text/html")
    response.fields.append("content-security-policy", policy)
    response.fields.append("referrer-policy", "no-referrer")
    return response
  }

  private static func response(_ text: String, type: String) -> HTTPResponse {
    HTTPResponse(
      fields: [
        .contentType: "\(type); charset=utf-8", "x-content-type-options": "nosniff", "cache-control": "no-store",
      ], body: .bytes(Array(text.utf8)))
  }
}
