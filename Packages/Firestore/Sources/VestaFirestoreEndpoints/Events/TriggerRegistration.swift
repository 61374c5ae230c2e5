import VestaBytes
import VestaEventsInterop
import VestaServiceInterop

/// The registration of a function by the functions emulator, in the forms of both generations; pure.
enum TriggerRegistration: Equatable {
  /// `PUT /emulator/v1/projects/P/triggers/KEY` with `{"eventTrigger":{…}}`.
  case legacy(key: String)
  /// `POST /emulator/v1/projects/P/eventarcTrigger?eventarcTriggerId=KEY`.
  case modern(key: String)

  /// The function, and what the functions emulator reads as the answer.
  func trigger(_ body: [UInt8], project: String) throws(EventTriggerError) -> (EventTrigger, answer: JSONObject) {
    guard let object = try? JSONObject(json: body) else { throw EventTriggerError("The body is no object of JSON.") }
    let (key, definition, answer) =
      switch self {
      case .legacy(let key): (key, object["eventTrigger"]?.object ?? [:], [:] as JSONObject)
      case .modern(let key): (key, Self.definition(object), object)
      }
    guard let trigger = try DocumentEventForm().trigger(key, definition, project: project) else {
      let type = definition["eventType"]?.string ?? ""
      throw EventTriggerError("\"\(type.prefix(100))\" is no type of events of documents.")
    }
    return (trigger, answer)
  }

  /// The definition as the manifest of a codebase has it.
  private static func definition(_ object: JSONObject) -> JSONObject {
    var filters: JSONObject = [:]
    var patterns: JSONObject = [:]
    filters["database"] = object["database"]
    let document = object["document"]?.object ?? [:]
    if document["matchType"] == "EXACT" {
      filters["document"] = document["value"]
    } else {
      patterns["document"] = document["value"]
    }
    var definition: JSONObject = ["eventFilters": .object(filters), "eventFilterPathPatterns": .object(patterns)]
    definition["eventType"] = object["eventType"]
    return definition
  }
}
