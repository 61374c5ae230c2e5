import VestaBytes

/// The place of a function among the functions of all projects: `/{project}/{region}/{name}`.
public struct CallablePath: Sendable, Hashable {
  /// The project.
  public var project: String
  /// The region.
  public var region: String
  /// The name of the function.
  public var name: String

  /// A place.
  public init(project: String, region: String, name: String) {
    self.project = project
    self.region = region
    self.name = name
  }

  /// Reads the path of a target; a query is left out.
  ///
  /// `nil` for another form.
  public init?(target: String) {
    let path = target.prefix { $0 != "?" }
    let parts = path.parts(at: "/")
    guard parts.count == 4 || (parts.count == 5 && parts[4].isEmpty), parts[0].isEmpty else { return nil }
    let texts = parts[1...3].compactMap { try? PercentEncoding.decode($0) }
    guard texts.count == 3, texts.allSatisfy({ !$0.isEmpty && !$0.hasByte("/") }) else { return nil }
    self.init(project: texts[0], region: texts[1], name: texts[2])
  }

  /// The path, as an emulator serves it.
  public var target: String {
    let encoding = PercentEncoding.unreserved
    return "/\(encoding.encode(project))/\(encoding.encode(region))/\(encoding.encode(name))"
  }

  /// The URL at the service of Google.
  public var url: String {
    "https://\(region)-\(project).cloudfunctions.net/\(PercentEncoding.unreserved.encode(name))"
  }
}
