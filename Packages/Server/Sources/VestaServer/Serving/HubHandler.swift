import VestaBytes
import VestaCore
import VestaTransportInterop

/// A switch that turns the events of functions of other programs on and off.
protocol TriggerSwitch: AnyObject, Sendable {
  /// Whether there are functions to turn on and off.
  var hasAddress: Bool { get }
  /// Whether they are called.
  var isEnabled: Bool { get set }
}

/// The hub, by which tools find the other ports: `GET /`, `GET /emulators`, `POST /_admin/export`, and
/// `PUT /functions/disableBackgroundTriggers` and `…/enableBackgroundTriggers`.
struct HubHandler: HTTPHandler {
  /// A port that is open, by the name of its emulator.
  struct Place: Sendable {
    let name: String
    let host: String
    let port: Int
    let hosts: [String]
  }

  /// Pages may read the hub, and turn nothing on or off by it.
  static let pageRules = CrossOriginRules(methods: [.get, .head], allowsPrivateNetwork: true)

  let places: [Place]
  let origins: [String]
  let process: Int
  let exports: ExportDirectory
  let triggers: any TriggerSwitch
  /// The bearer token without which nothing is exported or turned off; `nil` where everyone is believed.
  var secret: String?

  func reply(to request: HTTPRequest) -> HTTPReply {
    if request.method == .post || request.method == .put, !isBelieved(request) {
      return .response(JSONResponse.forbidden("Only `vesta export` of the user that runs this server may do so."))
    }
    if request.method == .post, request.path == "/_admin/export" { return export(request) }
    if request.method == .put, request.path.hasPrefix("/functions/") { return .response(turnTriggers(request)) }
    guard request.method == .get || request.method == .head else {
      return .response(JSONResponse.failure(404, "There is no such call."))
    }
    switch request.path {
    case "/": return .response(JSONResponse.success(locator))
    case "/emulators": return .response(JSONResponse.success(emulators))
    default: return .response(JSONResponse.failure(404, "There is no such call."))
    }
  }

  /// Whether the request has the secret of the locator file, where there is one.
  private func isBelieved(_ request: HTTPRequest) -> Bool {
    guard let secret else { return true }
    let (expected, given) = (Array("Bearer \(secret)".utf8), Array((request.fields.first(.authorization) ?? "").utf8))
    // In the same time for all wrong ones of the right length.
    return expected.count == given.count && zip(expected, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func turnTriggers(_ request: HTTPRequest) -> HTTPResponse {
    let wanted: Bool
    switch request.path {
    case "/functions/disableBackgroundTriggers": wanted = false
    case "/functions/enableBackgroundTriggers": wanted = true
    default: return JSONResponse.failure(404, "There is no such call.")
    }
    guard triggers.hasAddress else { return JSONResponse.error("The Cloud Functions emulator is not running.", 400) }
    triggers.isEnabled = wanted
    return JSONResponse.success(["enabled": .bool(wanted)])
  }

  /// Exports to the directory that `{"path":"…","targets":["…"]}` names, as `firebase emulators:export` asks for it.
  ///
  /// Pages cannot ask for it: they could have any directory replaced.
  private func export(_ request: HTTPRequest) -> HTTPReply {
    guard request.fields.first(.origin) == nil else {
      return .response(JSONResponse.forbidden("Export cannot be triggered by external callers."))
    }
    guard let object = try? JSONObject(json: request.body.bytes ?? []), let path = object["path"]?.string,
      // The system reads a path up to its first zero.
      path.hasPrefix("/"), !path.utf8.contains(0)
    else { return .response(JSONResponse.message("The body has to have the absolute path of a directory.", 400)) }
    let products = object["targets"]?.array.map { Set($0.compactMap(\.string)) }
    return .task { [exports] in
      do throws(ServerError) {
        try await exports.write(to: path, products: products)
        return JSONResponse.message("OK", .ok)
      } catch {
        return JSONResponse.message(error.description, 500)
      }
    }
  }

  /// The content of the file by which the Firebase CLI finds the hub.
  var locator: JSONObject {
    [
      "version": .string(VestaVersion()), "origins": .array(origins.map { .string($0) }),
      "pid": .integer(Int64(process)),
    ]
  }

  private var emulators: JSONObject {
    var object = JSONObject()
    for place in places {
      let listen = place.hosts.map { host -> JSONValue in
        let family = host.contains(":") ? "IPv6" : "IPv4"
        return ["address": .string(host), "family": .string(family), "port": .integer(Int64(place.port))]
      }
      object[place.name] = [
        "name": .string(place.name), "host": .string(place.host), "port": .integer(Int64(place.port)),
        "pid": .integer(Int64(process)), "listen": .array(listen),
      ]
    }
    return object
  }
}
