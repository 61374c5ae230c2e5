import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// A call of local test suites: made as the owner, as it needs no credential.
struct AuthEmulatorCall: Sendable {
  let call: AuthExchange

  func respond(to route: EmulatorRoute.Call) async throws -> HTTPResponse {
    let (admin, context) = (try call.admin, call.context)
    switch route {
    case .clear:
      try await clear()
      return AuthResponse.success(Array("{}".utf8))
    case .config:
      let config = try await admin.projectConfig(context: context)
      return AuthResponse.success(try ProjectConfigWire.emulatorJSON(of: config).json())
    case .updateConfig:
      return AuthResponse.success(try ProjectConfigWire.emulatorJSON(of: try await call.updateConfig()).json())
    case .oobCodes:
      var codes = try await admin.sentOobCodes(context: context)
      for index in codes.indices { codes[index].oobLink = call.link(codes[index].oobLink) }
      return AuthResponse.success(try Self.list("oobCodes", try SentOobCodesWire.json(of: codes)))
    case .verificationCodes:
      let codes = try await admin.sentVerificationCodes(context: context)
      return AuthResponse.success(try Self.list("verificationCodes", try SentVerificationCodesWire.json(of: codes)))
    case .action(let fields): return await act(fields)
    case .signIn(let fields): return await SignInCall(call: call, fields: fields).respond()
    case .signInFile(let file): return file.response
    }
  }

  /// A list that is there when it is empty, too: test suites look into it without a question.
  private static func list(_ name: String, _ json: [UInt8]) throws -> [UInt8] {
    let object = try JSONObject(json: json)
    return object[name] == nil ? try ([name: .array([])] as JSONObject).json() : json
  }

  /// Deletes all accounts without events; codes that were sent stay.
  private func clear() async throws {
    var context = call.context
    context.suppressesEvents = true
    try await call.admin.deleteAllAccounts(context: context)
  }

  // MARK: The page behind a link

  private func act(_ fields: FormFields) async -> HTTPResponse {
    do {
      let result = try await actionResult(fields)
      if let url = fields["continueUrl"] { return redirect(to: url, fields) }
      let object: JSONObject = ["authEmulator": .object(result)]
      return AuthResponse.success(try object.json())
    } catch {
      let text = AuthResponse.error(error).wireMessage
      let object: JSONObject = ["authEmulator": ["error": .string(text)]]
      var response = AuthResponse.success((try? object.json()) ?? [])
      response.status = HTTPStatus(400)
      return response
    }
  }

  private static func newPassword(_ fields: FormFields) throws -> String {
    if let password = fields["newPassword"] { return password }
    throw AuthServiceError(.missingPassword, "Add &newPassword=NEW_PASSWORD to the URL.")
  }

  private func actionResult(_ fields: FormFields) async throws -> JSONObject {
    var context = call.context
    context.caller = .nobody
    let (client, code) = (try call.client, fields["oobCode"] ?? "")
    var result: JSONObject = ["success": "The action is done."]
    switch fields["mode"] {
    case "verifyEmail", "recoverEmail", "verifyAndChangeEmail", "revertSecondFactorAddition":
      let done = try await client.update(UpdateRequest(oobCode: code), context: context)
      result["email"] = done.email.map { .string($0) }
    case "resetPassword":
      let request = ResetPasswordRequest(oobCode: code, newPassword: try Self.newPassword(fields))
      result["email"] = try await client.resetPassword(request, context: context).email.map { .string($0) }
    case "signIn": guard fields["continueUrl"] != nil else { throw AuthServiceError(.missingContinueURI) }
    default: throw AuthServiceError(.invalidArgument, "The mode is missing or not known.")
    }
    return result
  }

  /// A sign-in continues in the app, with what the link says.
  private func redirect(to url: String, _ fields: FormFields) -> HTTPResponse {
    var target = url
    if fields["mode"] == "signIn" {
      var rest = FormFields()
      for field in fields.fields where field.name != "continueUrl" { rest.append(field.name, field.value) }
      // In front of the fragment, which belongs to the page: pages with routes in it read their query all the same.
      let page = url.prefix { $0 != "#" }
      target = page + (page.contains("?") ? "&" : "?") + rest.text + url[page.endIndex...]
    }
    // A line break would end the field.
    guard target.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return HTTPResponse(HTTPStatus(400)) }
    return HTTPResponse(HTTPStatus(303), fields: ["location": target])
  }
}
