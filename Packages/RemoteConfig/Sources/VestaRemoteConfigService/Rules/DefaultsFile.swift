import VestaBytes
import VestaRemoteConfigBackend

/// Files with default values, as apps take them along.
enum DefaultsFile {
  static func render(_ values: [(key: String, value: String)], as format: DefaultsFormat) -> [UInt8] {
    switch format {
    case .json: json(values)
    case .xml: Array(xml(values).utf8)
    case .plist: Array(plist(values).utf8)
    }
  }

  private static func json(_ values: [(key: String, value: String)]) -> [UInt8] {
    var object = JSONObject()
    for (key, value) in values { object[key] = .string(value) }
    // Strings can always be written.
    return (try? object.json()) ?? []
  }

  private static func xml(_ values: [(key: String, value: String)]) -> String {
    let entries = values.map { key, value in
      "  <entry>\n    <key>\(escaped(key))</key>\n    <value>\(escaped(value))</value>\n  </entry>\n"
    }
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<defaultsMap>\n\(entries.joined())</defaultsMap>\n"
  }

  private static func plist(_ values: [(key: String, value: String)]) -> String {
    let entries = values.map { key, value in
      "  <key>\(escaped(key))</key>\n  <string>\(escaped(value))</string>\n"
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \(entries.joined())</dict>
      </plist>

      """
  }

  /// The string with the special characters of XML escaped, without forbidden ones.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
      default:
        if scalar.value >= 32, scalar.value != 0xFFFE, scalar.value != 0xFFFF { result.unicodeScalars.append(scalar) }
      }
    }
    return result
  }
}
