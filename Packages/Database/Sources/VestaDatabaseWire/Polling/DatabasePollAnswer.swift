import VestaBytes

/// The scripts that answer requests of long polling.
///
/// They run in a frame of the page, and the functions that they call belong to the page: the first script defines
/// functions of the frame that pass the calls on.
public enum DatabasePollAnswer {
  /// The type of the answers.
  public static let contentType = "application/javascript; charset=utf-8"

  /// The page that requests the end of the session when the browser's page is closed.
  ///
  /// - Parameter poll: The request that ends the session.
  public static func framePage(ending poll: DatabasePoll) -> [UInt8] {
    // The query is percent-encoded, so nothing in it ends the string.
    let script = "window.onunload=function(){(new Image()).src=\"/.lp?\(poll.query)\";}"
    return Array("<!doctype html><html><head><script>\(script)</script></head><body></body></html>".utf8)
  }

  /// The answer to the start of a session: its id and password, and its first messages.
  ///
  /// - Parameters:
  ///   - callback: The number of the request's callback.
  ///   - id: The id of the session; letters and digits.
  ///   - password: The secret of the session; letters and digits.
  ///   - messages: The JSON of the first messages.
  public static func start(callback: String, id: String, password: String, messages: [[UInt8]]) -> [UInt8] {
    func forwarder(_ name: String, _ arguments: String) -> String {
      let target = "parent.window[\"\(name)\(callback)\"]"
      return "function \(name)(\(arguments)){\(target)&&\(target)(\(arguments));}\n"
    }
    let forwarders = forwarder("pLPCommand", "c,a1,a2,a3,a4") + forwarder("pRTLPCB", "n,d")
    let command = "pLPCommand('start',\"\(safe(id))\",\"\(safe(password))\");\n"
    return Array((forwarders + command).utf8) + data(number: 0, messages: messages)
  }

  /// The answer to a poll: messages with the number of the answer in the session.
  public static func data(number: Int, messages: [[UInt8]]) -> [UInt8] {
    var script = Array("pRTLPCB(\(number),[".utf8)
    for (index, message) in messages.enumerated() {
      if index > 0 { script.append(UInt8(ascii: ",")) }
      script += ScriptText.safe(message)
    }
    return script + Array("]);\n".utf8)
  }

  /// The answer that ends the session.
  public static let close = Array("pLPCommand('close');\n".utf8)

  private static func safe(_ text: String) -> String {
    String(text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
  }
}

/// JSON that can be part of a script.
enum ScriptText {
  /// The JSON with the characters escaped that would end a line or a script: `<` and U+2028 and U+2029.
  static func safe(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 == UInt8(ascii: "<") || $0 == 0xE2 }) else { return json }
    var safe: [UInt8] = []
    safe.reserveCapacity(json.count + 16)
    var index = 0
    while index < json.count {
      let byte = json[index]
      let isSeparator =
        byte == 0xE2 && index + 2 < json.count && json[index + 1] == 0x80 && json[index + 2] & 0xFE == 0xA8
      if isSeparator {
        safe += Array((json[index + 2] == 0xA8 ? "\\u2028" : "\\u2029").utf8)
        index += 3
        continue
      }
      if byte == UInt8(ascii: "<") { safe += Array("\\u003c".utf8) } else { safe.append(byte) }
      index += 1
    }
    return safe
  }
}
