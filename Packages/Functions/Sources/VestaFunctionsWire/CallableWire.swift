public import VestaBytes
public import VestaFunctionsBackend
import VestaServiceInterop

/// The bodies of the protocol of callable functions, and back.
///
/// A request is `{"data":…}` and nothing else, a response `{"result":…}`, an error `{"error":{"status":…,"message":…}}`
/// with the matching status of HTTP. Values are in the wire's form in the seam too: integers of 64 bits are
/// objects with `@type` and `value`.
public enum CallableWire {
  /// The type of all bodies but a stream's.
  public static let contentType = "application/json"
  /// The bounds of bodies: 10 MiB, and values nested as deeply as callers can nest them.
  public static let limits = JSONLimits(maximumDepth: 210, maximumSize: 10 << 20)

  // MARK: Requests

  /// The body of a call.
  ///
  /// - Throws: `BytesError` with `.invalidValue` for a number that is not finite, `.limitExceeded` for deeper nesting.
  public static func body(ofData data: JSONValue) throws(BytesError) -> [UInt8] {
    try JSONObject(dictionaryLiteral: ("data", data)).json()
  }

  /// The data of a call.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - contentType: The header `content-type`.
  ///   - limits: The limits of the JSON.
  /// - Throws: `invalidArgument` as the service answers it, for a body that is no call.
  public static func data(
    body: [UInt8], contentType: String?, limits: JSONLimits = limits
  ) throws(FunctionsServiceError) -> JSONValue {
    let type = contentType?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    guard type == Self.contentType, let object = try? JSONObject(json: body, limits: limits), object.count == 1,
      let data = object["data"]
    else { throw FunctionsServiceError(.invalidArgument, "Bad Request") }
    return data
  }

  // MARK: Responses

  /// The body of a result.
  public static func body(ofResult result: JSONValue) throws(BytesError) -> [UInt8] {
    try JSONObject(dictionaryLiteral: ("result", result)).json()
  }

  /// The status and the body of a failure.
  public static func response(of error: FunctionsServiceError) -> (status: Int, body: [UInt8]) {
    let status = error.code.httpStatus
    if let body = try? object(of: error).json() { return (status, body) }
    // Details with a number that is not finite are left out, and the failure is still sent.
    let bare = FunctionsServiceError(error.code, error.message)
    return (status, (try? object(of: bare).json()) ?? [])
  }

  /// The result of a response.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP.
  ///   - body: The body.
  ///   - limits: The limits of the JSON.
  /// - Throws: The failure that the response states; `internal` for a response without a result.
  public static func result(
    status: Int, body: [UInt8], limits: JSONLimits = limits
  ) throws(FunctionsServiceError) -> JSONValue {
    let object: JSONObject
    do {
      object = try JSONObject(json: body, limits: limits)
    } catch {
      guard status == 200 else { throw Self.error(status: status, object: JSONObject()) }
      throw FunctionsServiceError(.internal, "Response is not valid JSON object.")
    }
    guard status == 200, object["error"] == nil else { throw Self.error(status: status, object: object) }
    guard let result = object["result"] ?? object["data"] else {
      throw FunctionsServiceError(.internal, "Response is missing data field.")
    }
    return result
  }

  // MARK: Streams

  /// The event of a message or of the result, as it is written: one line and an empty one.
  ///
  /// Comments must not be written between events: Apple's clients end the stream at one.
  public static func bytes(of event: FunctionEvent) throws(BytesError) -> [UInt8] {
    switch event {
    case .message(let value): line(try JSONObject(dictionaryLiteral: ("message", value)).json())
    case .result(let value): line(try body(ofResult: value))
    }
  }

  /// The event of a failure, which is the last one; the status of HTTP was 200 before.
  public static func bytes(of error: FunctionsServiceError) -> [UInt8] { line(response(of: error).body) }

  /// Reads the data of an event.
  ///
  /// - Parameters:
  ///   - data: The data of a server-sent event, without its name and the end of the line.
  ///   - limits: The limits of the JSON.
  /// - Throws: The failure that the event states; `dataLoss` for an event that is none of the three.
  public static func event(
    data: [UInt8], limits: JSONLimits = limits
  ) throws(FunctionsServiceError) -> FunctionEvent {
    guard let object = try? JSONObject(json: data, limits: limits) else {
      throw FunctionsServiceError(.dataLoss, "The event of a stream is not valid JSON.")
    }
    if object["error"] != nil { throw error(status: 200, object: object) }
    if let value = object["result"] { return .result(value) }
    guard let value = object["message"] else {
      throw FunctionsServiceError(.dataLoss, "The event of a stream is neither a message nor a result.")
    }
    return .message(value)
  }

  private static func line(_ json: [UInt8]) -> [UInt8] { Array("data: ".utf8) + json + [10, 10] }

  // MARK: Errors

  private static func object(of error: FunctionsServiceError) -> JSONObject {
    var content = JSONObject()
    content["message"] = .string(error.message)
    content["status"] = .string(error.code.name)
    content["details"] = error.details
    return ["error": .object(content)]
  }

  /// The failure of a response: its canonical status, or that of HTTP where it states none.
  private static func error(status: Int, object: JSONObject) -> FunctionsServiceError {
    let content = object["error"]?.object
    let fallback: ServiceCode =
      status == 200 ? .internal : status == 409 ? .alreadyExists : ServiceCode(httpStatus: status)
    guard let name = content?["status"]?.string else {
      return FunctionsServiceError(fallback, content?["message"]?.string ?? fallback.name, details: content?["details"])
    }
    // A status that is not canonical says nothing, and neither does the rest of the error.
    guard let code = ServiceCode(name: name) else { return FunctionsServiceError(.internal, "INTERNAL") }
    return FunctionsServiceError(code, content?["message"]?.string ?? name, details: content?["details"])
  }
}
