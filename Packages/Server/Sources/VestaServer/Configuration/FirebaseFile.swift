import VestaBytes
import VestaServiceInterop

/// The parts of `firebase.json` and `.firebaserc` that a server reads; pure.
struct FirebaseFile {
  /// The hosts of products, by the name of their emulator.
  private(set) var hosts: [String: String] = [:]
  /// The files of rules as they are written, by product.
  private(set) var rules: [String: String] = [:]
  /// The files of rules of single databases and buckets.
  private(set) var namedRules: [NamedRules] = []
  /// The files of declared indexes of Firestore, by database.
  private(set) var indexes: [String: String] = [:]
  /// Whether requests are expected to name one project.
  private(set) var isSingleProject = true
  /// The ports of products, by the name of their emulator.
  private(set) var ports: [String: Int] = [:]

  /// The addresses of functions that run in other programs, by name.
  private(set) var functions: [String: String] = [:]
  /// The address of a functions emulator.
  private(set) var functionsEmulator: String?

  /// Reads `firebase.json`, in which the Firebase CLI allows comments.
  ///
  /// - Throws: ``ServerError`` for what is no JSON, and for a port that is none.
  init(json: [UInt8]) throws(ServerError) {
    let object: JSONObject
    do throws(BytesError) {
      object = try Self.object(json)
    } catch {
      throw ServerError("firebase.json is not valid JSON: \(error.message). Mend it, or name another with --config.")
    }
    for product in ["firestore", "storage", "database"] {
      // Several databases or buckets have a list; all others have the rules of the first one.
      let sections = object[product]?.array?.compactMap(\.object) ?? (object[product]?.object).map { [$0] } ?? []
      rules[product] = sections.first?["rules"]?.string
      for section in sections where product == "firestore" {
        guard let path = section["indexes"]?.string else { continue }
        indexes[section["database"]?.string ?? "(default)"] = path
      }
      for section in sections {
        guard let path = section["rules"]?.string else { continue }
        for member in ["database", "bucket", "instance", "target"] {
          guard let name = section[member]?.string else { continue }
          namedRules.append(NamedRules(product: product, name: name, isTarget: member == "target", path: path))
        }
      }
    }
    isSingleProject = object["emulators"]?.object?["singleProjectMode"] != false
    for member in object["emulators"]?.object?.members ?? [] {
      guard let entry = member.value.object else { continue }
      let name = member.name
      if let host = entry["host"]?.string { hosts[name] = host }
      if name == "functions" {
        functionsEmulator = entry["emulator"]?.string
        for place in entry["proxy"]?.object?.members ?? [] { functions[place.name] = place.value.string ?? "" }
      }
      guard let port = entry["port"] else { continue }
      guard let number = port.integer, (0...65_535).contains(number) else {
        throw ServerError("emulators.\(name).port of firebase.json is no port: give a number from 0 to 65535.")
      }
      ports[name] = Int(number)
    }
  }

  /// The file of rules of one database or bucket.
  struct NamedRules: Equatable {
    let product: String
    let name: String
    /// Whether the name is one of `.firebaserc` that stands for several.
    let isTarget: Bool
    let path: String
  }

  /// The files of rules by product and by the names of databases and buckets.
  ///
  /// - Parameter targets: The `targets` of the project in `.firebaserc`: names by target and product.
  /// - Throws: ``ServerError`` for a target that is none.
  func namedRules(targets: JSONObject) throws(ServerError) -> [String: [String: String]] {
    var result: [String: [String: String]] = [:]
    for rules in namedRules {
      var names = [rules.name]
      if rules.isTarget {
        names = targets[rules.product]?.object?[rules.name]?.array?.compactMap(\.string) ?? []
        guard !names.isEmpty else {
          throw ServerError(
            "firebase.json names the target \(rules.name) of \(rules.product), which .firebaserc does not have.")
        }
      }
      for name in names { result[rules.product, default: [:]][name] = rules.path }
    }
    return result
  }

  /// The object of a file, which may have comments, and a byte-order mark as editors of Windows write it.
  static func object(_ json: [UInt8]) throws(BytesError) -> JSONObject {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return try JSONObject(json: JSONComments.removed(from: json.starts(with: mark) ? Array(json.dropFirst(3)) : json))
  }

  /// The targets of a project in `.firebaserc`.
  static func targets(json: [UInt8], project: String) -> JSONObject {
    (try? object(json))?["targets"]?.object?[project]?.object ?? [:]
  }

  /// The project that a name of `.firebaserc` stands for; `nil` where it has none of that name.
  ///
  /// - Parameter name: The name; `nil` for `default`, or the only name where there is one.
  static func project(named name: String?, json: [UInt8]) -> String? {
    guard let names = (try? object(json))?["projects"]?.object else { return nil }
    if let name { return names[name]?.string }
    return (names["default"] ?? (names.members.count == 1 ? names.members.first?.value : nil))?.string
  }
}
