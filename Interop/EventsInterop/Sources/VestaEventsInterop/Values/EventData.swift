public import VestaBytes
import VestaConcurrency

/// The data of an event: an object, or how to make one of what was read.
///
/// Many functions ask for a part of the data or for none of it, and to make the JSON of a document is the longest step
/// of its delivery. So a source can read its bytes, which fails for damaged ones, and leave the making for
/// when somebody asks.
///
/// ```swift
/// EventData(["n": 1])
/// EventData(names: ["value"]) { ["value": .object(json(row))] }   // made once, by the first who asks
/// ```
public struct EventData: Sendable {
  private enum Content: Sendable {
    case made(JSONObject)
    case later(LaterObject)
  }

  private let content: Content

  /// The data that an object is.
  public init(_ object: JSONObject) { content = .made(object) }

  /// Data that is made when it is asked for.
  ///
  /// - Parameters:
  ///   - names: The names of the members that the object is going to have.
  ///   - make: Makes the object; called once at the most, on any thread.
  public init(names: [String], _ make: @escaping @Sendable () -> JSONObject) {
    content = .later(LaterObject(names, make))
  }

  /// The object; the first call makes it.
  public var object: JSONObject {
    switch content {
    case .made(let object): object
    case .later(let later): later.object
    }
  }

  /// Whether the object has an object under a name; makes nothing.
  public func hasObject(_ name: String) -> Bool {
    switch content {
    case .made(let object): object[name]?.object != nil
    case .later(let later): later.names.contains(name)
    }
  }
}

extension EventData: Hashable {
  /// Whether the objects are equal.
  public static func == (left: EventData, right: EventData) -> Bool { left.object == right.object }

  /// Feeds the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(object) }
}

extension EventData: ExpressibleByDictionaryLiteral {
  /// The data of an object that is written out.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    var object = JSONObject()
    for (name, value) in members { object[name] = value }
    self.init(object)
  }
}

/// An object that is made by the first who asks; all copies of its data share it.
private final class LaterObject: Sendable {
  private enum State {
    case waiting(@Sendable () -> JSONObject)
    case made(JSONObject)
  }

  let names: [String]
  private let state: Locked<State>

  init(_ names: [String], _ make: @escaping @Sendable () -> JSONObject) {
    self.names = names
    state = Locked(.waiting(make))
  }

  var object: JSONObject {
    // Within the lock, so that it is made once; the closure calls no code of others.
    state.withLock { state in
      switch state {
      case .made(let object): return object
      case .waiting(let make):
        let object = make()
        state = .made(object)
        return object
      }
    }
  }
}
