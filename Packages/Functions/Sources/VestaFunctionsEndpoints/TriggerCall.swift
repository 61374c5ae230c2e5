import VestaBytes
import VestaEventsInterop
import VestaServiceInterop
import VestaTransportInterop

/// The calls about triggers at the port of functions, in development only: they need no credential.
///
/// | request | answer |
/// |---|---|
/// | `GET /functions/projects/P/triggers` | the functions that are registered |
/// | `PUT /functions/projects/P/triggers/KEY` | registers a function by `{"eventTrigger":{…}}` |
/// | `DELETE /functions/projects/P/triggers/KEY` | removes it; 404 where there is none |
///
/// Other requests below these paths are for the functions emulator, and are passed on to it.
struct TriggerCall: Sendable {
  let host: any EndpointHost
  let forms: [any EventTriggerForm]

  /// - Returns: `nil` for a request that is for the functions emulator.
  func reply(to request: HTTPRequest, _ path: TriggerPath, limit: Int) -> HTTPReply? {
    let isList = path.key == nil && request.path.hasSuffix("/triggers") && request.method == .get
    let isChange = path.key != nil && (request.method == .put || request.method == .delete)
    guard isList || isChange else { return nil }
    guard host.isDevelopment else {
      return .response(
        FunctionsExchange.failure(ServiceStatus(.notFound, "This server is not one for development.")))
    }
    return .task {
      do {
        return .json(try await answer(request, path, limit).json())
      } catch let error as EventTriggerError {
        return FunctionsExchange.failure(ServiceStatus(.invalidArgument, error.description))
      } catch {
        return FunctionsExchange.failure(error)
      }
    }
  }

  private func answer(_ request: HTTPRequest, _ path: TriggerPath, _ limit: Int) async throws -> JSONObject {
    let triggers = try host.backend((any EventTriggers).self, project: path.project)
    guard let key = path.key else {
      return ["triggers": .array(triggers.triggers.map { .object($0.json) })]
    }
    if request.method == .delete {
      guard try await triggers.remove(key) else { throw ServiceStatus(.notFound, "There is no trigger \(key).") }
      return [:]
    }
    let body = try await request.body.collect(upTo: limit)
    guard let definition = try? JSONObject(json: body)["eventTrigger"]?.object else {
      throw EventTriggerError("The body has to be an object with the member eventTrigger.")
    }
    guard let trigger = try trigger(key, definition, path.project) else {
      let type = definition["eventType"]?.string ?? ""
      throw EventTriggerError("The server has no events of the type \"\(type.prefix(100))\".")
    }
    try await triggers.set(trigger)
    return [:]
  }

  private func trigger(
    _ key: String, _ definition: JSONObject, _ project: String
  ) throws(EventTriggerError) -> EventTrigger? {
    for form in forms {
      if let trigger = try form.trigger(key, definition, project: project) { return trigger }
    }
    return nil
  }
}
