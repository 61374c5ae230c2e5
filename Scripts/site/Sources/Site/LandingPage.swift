public import Foundation

/// A page that the landing page lists.
public struct SitePage: Sendable, Hashable {
  /// The identifier that DocC has given to it.
  public var identifier: String
  /// The title.
  public var title: String
  /// The address below the site.
  public var url: String
  /// The first sentence.
  public var abstract: String
  /// Whether it is an article; a module otherwise.
  public var isArticle: Bool

  /// A page with these properties.
  public init(identifier: String, title: String, url: String, abstract: String, isArticle: Bool) {
    self.identifier = identifier
    self.title = title
    self.url = url
    self.abstract = abstract
    self.isArticle = isArticle
  }

  /// Reads the page of a module or an article from DocC's JSON; `nil` for other pages.
  public init?(json: Data) {
    guard let page = try? JSONSerialization.jsonObject(with: json) as? [String: Any],
      let identifier = (page["identifier"] as? [String: Any])?["url"] as? String,
      let metadata = page["metadata"] as? [String: Any], let title = metadata["title"] as? String,
      let paths = ((page["variants"] as? [[String: Any]])?.first?["paths"] as? [String])?.first
    else { return nil }
    let isArticle = page["kind"] as? String == "article"
    guard isArticle || metadata["symbolKind"] as? String == "module" else { return nil }
    let abstract = (page["abstract"] as? [[String: Any]] ?? []).map {
      $0["text"] as? String ?? $0["code"] as? String ?? ""
    }
    self.init(
      identifier: identifier, title: title, url: paths, abstract: abstract.joined(), isArticle: isArticle)
  }
}

/// The first page of the site: groups of modules and articles, in this order.
public struct LandingPage: Sendable, Hashable {
  /// A heading and what is below it.
  public struct Group: Sendable, Hashable {
    /// The heading.
    public var title: String
    /// The pages.
    public var pages: [SitePage]

    /// A group.
    public init(_ title: String, _ pages: [SitePage]) { (self.title, self.pages) = (title, pages) }
  }

  /// The groups; empty ones are left out.
  public var groups: [Group]

  /// A landing page.
  public init(_ groups: [Group]) { self.groups = groups.filter { !$0.pages.isEmpty } }

  /// The JSON of the page, made from the one that `docc merge` has written.
  ///
  /// - Throws: When the JSON is no object.
  public func page(replacing json: Data) throws -> Data {
    var page = try Self.object(json)
    var references: [String: Any] = [:]
    for entry in groups.flatMap(\.pages) {
      references[entry.identifier] = [
        "identifier": entry.identifier, "title": entry.title, "url": entry.url, "type": "topic",
        "role": entry.isArticle ? "article" : "collection", "kind": entry.isArticle ? "article" : "symbol",
        "abstract": [["type": "text", "text": entry.abstract]],
      ]
    }
    page["references"] = references
    page["topicSections"] = groups.map {
      ["title": $0.title, "identifiers": $0.pages.map(\.identifier)] as [String: Any]
    }
    page["topicSectionsStyle"] = "list"
    return try JSONSerialization.data(withJSONObject: page, options: [.sortedKeys])
  }

  /// The index of the site, whose first level has the groups of this page.
  ///
  /// - Throws: When the JSON is not what `docc merge` writes.
  public func index(replacing json: Data) throws -> Data {
    var index = try Self.object(json)
    guard var languages = index["interfaceLanguages"] as? [String: Any],
      var roots = languages["swift"] as? [[String: Any]], var root = roots.first,
      let children = root["children"] as? [[String: Any]]
    else { throw SiteError(description: "The index of the site has another form than expected.") }
    let byPath = Dictionary(children.map { ($0["path"] as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    root["children"] = groups.flatMap { group -> [[String: Any]] in
      let nodes = group.pages.compactMap { page in
        byPath[page.url] ?? (page.isArticle ? ["title": page.title, "path": page.url, "type": "article"] : nil)
      }
      return [["title": group.title, "type": "groupMarker"]] + nodes
    }
    roots[0] = root
    languages["swift"] = roots
    index["interfaceLanguages"] = languages
    return try JSONSerialization.data(withJSONObject: index, options: [.sortedKeys])
  }

  private static func object(_ json: Data) throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
      throw SiteError(description: "This is no JSON object.")
    }
    return object
  }
}

/// Why a site cannot be made.
public struct SiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// An error with its sentence.
  public init(description: String) { self.description = description }
}
