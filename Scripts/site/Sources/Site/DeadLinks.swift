public import Foundation

/// A link that leads nowhere.
public struct DeadLink: Sendable, Hashable, CustomStringConvertible {
  /// The page that has it, as its address below the site.
  public let page: String
  /// Where it leads.
  public let target: String

  /// Both, in a line.
  public var description: String { "\(page): there is no \(target)" }

  /// A link.
  public init(page: String, target: String) { (self.page, self.target) = (page, target) }
}

/// Finds the links between pages that lead nowhere: to a page that is absent, to a heading that its page does not have,
/// and to files that no site has.
///
/// Addresses of the web are not asked.
///
/// - Parameter pages: DocC's JSON of each page by its address below the site, such as `/documentation/vestacore`.
/// - Throws: When a page is no JSON.
public func deadLinks(among pages: [String: Data]) throws -> [DeadLink] {
  var objects: [String: [String: Any]] = [:]
  for (address, json) in pages {
    guard let object = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
      throw SiteError(description: "\(address) is no JSON object.")
    }
    objects[address] = object
  }
  let places = objects.mapValues { anchors(in: $0) }
  return objects.flatMap { address, page in
    (page["references"] as? [String: [String: Any]] ?? [:]).values.compactMap { reference in
      guard let url = reference["url"] as? String else { return nil }
      return leads(url, of: reference["type"] as? String ?? "", among: places)
        ? nil : DeadLink(page: address, target: url)
    }
  }
  .sorted { ($0.page, $0.target) < ($1.page, $1.target) }
}

private func leads(_ url: String, of type: String, among anchors: [String: Set<String>]) -> Bool {
  guard type == "topic" || type == "section" || type == "link" else { return true }
  if url.hasPrefix("https://") || url.hasPrefix("http://") || url.hasPrefix("mailto:") { return true }
  let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard let found = anchors[parts[0].lowercased()] else { return false }
  return parts.count == 1 || found.contains(parts[1])
}

/// The headings of a page that links can lead to.
private func anchors(in page: [String: Any]) -> Set<String> {
  var result: Set<String> = ["topics", "overview", "discussion"]
  func collect(_ value: Any) {
    if let list = value as? [Any] { return list.forEach(collect) }
    guard let object = value as? [String: Any] else { return }
    if let anchor = object["anchor"] as? String { result.insert(anchor) }
    object.values.forEach(collect)
  }
  for part in ["primaryContentSections", "topicSections", "sections"] { page[part].map(collect) }
  return result
}
