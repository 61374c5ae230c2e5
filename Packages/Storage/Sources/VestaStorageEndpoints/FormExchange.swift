import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// An upload by a form of a web page, with a policy document that its owner has signed.
///
/// As with signed URLs, a server for development believes the signature, and checks when the policy ends and what it
/// allows; any other server wants a credential.
struct FormExchange: Sendable {
  let exchange: StorageExchange
  let bucket: String

  /// A form that is not allowed, or is none.
  private struct Refusal: Error {
    let code: String
    let message: String
  }

  private static let wrongNumber = Refusal(
    code: "IncorrectNumberOfFilesInPostRequest", message: "The form has to have one whole file.")

  /// The settings of the object and of the answer in the fields.
  private struct Form {
    var fields: [String: String] = [:]
    var key = ""
    var length: ClosedRange<Int64>?
  }

  func respond() async throws -> HTTPResponse {
    do {
      return try await upload()
    } catch let error as Refusal {
      return HTTPResponse(
        .badRequest, fields: [.contentType: StorageErrorWire.xmlType],
        body: .bytes(StorageErrorWire.xml(code: error.code, error.message)))
    }
  }

  private func upload() async throws -> HTTPResponse {
    var machine = try FormDataMachine(
      contentType: exchange.field("content-type") ?? "", maximumFields: exchange.tuning.bodyLimit)
    var form = Form()
    var sink: UploadSink?
    var count: Int64 = 0
    do {
      for try await piece in exchange.request.body.stream {
        for event in try machine.received(piece) {
          switch event {
          case .field(let name, let value): form.fields[name.lowercased()] = value
          case .file(let name):
            guard sink == nil else { throw Self.wrongNumber }
            sink = try begin(&form, file: name)
          case .bytes(let bytes):
            count += Int64(bytes.count)
            if let length = form.length, count > length.upperBound {
              throw Refusal(code: "EntityTooLarge", message: "The file has more bytes than the policy allows.")
            }
            try await sink?.write(bytes)
          case .end: break
          }
        }
      }
      guard machine.isEnded, var last = sink else {
        throw Self.wrongNumber
      }
      if let length = form.length, count < length.lowerBound {
        throw Refusal(code: "EntityTooSmall", message: "The file has fewer bytes than the policy wants.")
      }
      sink = nil
      return answer(form, try await last.finish())
    } catch {
      await sink?.giveUp()
      throw error
    }
  }

  /// The upload of a form whose fields are all there.
  private func begin(_ form: inout Form, file: String) throws -> UploadSink {
    guard let key = form.fields["key"], !key.isEmpty else {
      throw Refusal(code: "InvalidArgument", message: "The form has no key.")
    }
    // Browsers of old send the whole path.
    let name = file.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
    form.key = key.split(separator: "${filename}", omittingEmptySubsequences: false).joined(separator: name)
    if let text = form.fields["policy"] { form.length = try check(text, form) }
    let body = DownloadHeaders.upload(form.fields.map { ($0.key, $0.value) })
    let upload = UploadRequest(
      object: ObjectName(bucket: bucket, name: form.key), metadata: body.metadata,
      preconditions: exchange.route.preconditions, expected: body.digest, downloadTokens: .none, isContinuable: false)
    return UploadSink(
      upload, to: exchange.backend, exchange.context, chunkLength: exchange.tuning.chunkLength)
  }

  /// Refuses a form that its policy does not allow.
  ///
  /// - Returns: How many bytes the file may have.
  private func check(_ text: String, _ form: Form) throws -> ClosedRange<Int64>? {
    let policy: PolicyDocument
    do {
      policy = try PolicyDocument(text)
    } catch {
      throw Refusal(code: "InvalidPolicyDocument", message: error.message)
    }
    guard exchange.host.clock.seconds() < policy.end else {
      throw Refusal(code: "ExpiredToken", message: "The policy of the form has expired.")
    }
    var fields = form.fields
    fields["bucket"] = bucket
    if let objection = policy.objection(to: fields, key: form.key) {
      throw Refusal(code: "InvalidPolicyDocument", message: objection)
    }
    return policy.length
  }

  /// The answer that the form asks for: another page, or a status.
  private func answer(_ form: Form, _ made: StorageObject) -> HTTPResponse {
    let tag = "\"\(PartsWire.tag(of: made))\""
    let place = exchange.origin + StorageRoute(.xml, .get(made.name)).target
    var response = HTTPResponse(.noContent)
    if let page = form.fields["success_action_redirect"], HTTPURL(page) != nil {
      var fields = FormFields()
      fields.append("bucket", bucket)
      fields.append("key", made.name.name)
      fields.append("etag", tag)
      response.status = HTTPStatus(303)
      response.fields.set(.location, "\(page)\(page.contains("?") ? "&" : "?")\(fields.text)")
    } else if form.fields["success_action_status"] == "201" {
      let fields: HTTPFields = [.contentType: StorageErrorWire.xmlType, .location: place]
      let body = PartsWire.posted(made, location: place)
      response = HTTPResponse(HTTPStatus(201), fields: fields, body: .bytes(body))
    } else if form.fields["success_action_status"] == "200" {
      response.status = .ok
    }
    response.fields.set("etag", tag)
    return response
  }
}
