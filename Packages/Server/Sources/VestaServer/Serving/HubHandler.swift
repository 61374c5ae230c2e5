import VestaBytes
import VestaCore
import VestaTransportInterop

/// The hub, by which tools find the other ports: `GET /` and `GET /emulators`.
struct HubHandler: HTTPHandler {
  /// A port that is open, by the name of its emulator.
  struct Place: Sendable {
    let name: String
    let host: String
    let port: Int
    let hosts: [String]
  }

  let places: [Place]
  let origins: [String]
  let process: Int

  func reply(to request: HTTPRequest) -> HTTPReply {
    guard request.method == .get else { return .response(JSONResponse.failure(404, "There is no such call.")) }
    switch request.path {
    case "/": return .response(JSONResponse.success(locator))
    case "/emulators": return .response(JSONResponse.success(emulators))
    default: return .response(JSONResponse.failure(404, "There is no such call."))
    }
  }

  /// What the file has by which the Firebase CLI finds the hub.
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
