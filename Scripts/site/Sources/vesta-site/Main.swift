import Foundation
import Site

/// The commands of the tool.
///
/// - `vesta-site readme FILE TITLE`: the article that a README becomes, on the standard output.
/// - `vesta-site finish SITE TABLE`: gives the merged site its landing page; TABLE has a line `MODULE FOLDER` for each
///   module.
/// - `vesta-site check SITE`: prints the links that lead nowhere; status 1 when there is one.
@main
enum Main {
  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      switch (arguments.first, arguments.count) {
      case ("readme", 3):
        print(article(fromReadme: try String(contentsOfFile: arguments[1], encoding: .utf8), title: arguments[2]))
      case ("finish", 3): try finish(URL(filePath: arguments[1]), table: arguments[2])
      case ("check", 2): try check(URL(filePath: arguments[1]))
      default: throw SiteError(description: "Usage: vesta-site readme FILE TITLE | finish SITE TABLE | check SITE")
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  /// The pages of a site by their addresses, the landing page among them.
  private static func pages(of site: URL) throws -> [String: Data] {
    let data = site.appending(path: "data")
    guard let files = FileManager.default.enumerator(atPath: data.path) else {
      throw SiteError(description: "\(data.path) cannot be read.")
    }
    var pages: [String: Data] = [:]
    for case let path as String in files where path.hasSuffix(".json") {
      pages["/\(path.dropLast(5))".lowercased()] = try Data(contentsOf: data.appending(path: path))
    }
    return pages
  }

  private static func finish(_ site: URL, table: String) throws {
    var folders: [String: String] = [:]
    for line in try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.count == 2 { folders[words[0]] = words[1] }
    }
    // Modules and articles are one or two levels below /documentation.
    let listed = try pages(of: site).filter { (2...3).contains($0.key.split(separator: "/").count) }
      .compactMap { SitePage(json: $0.value) }.sorted { $0.title < $1.title }
    let landing = LandingPage(groups(of: listed, folders))
    for (path, change) in [
      ("data/documentation.json", landing.page), ("index/index.json", landing.index),
    ] as [(String, (Data) throws -> Data)] {
      let file = site.appending(path: path)
      try change(try Data(contentsOf: file)).write(to: file)
    }
    let settings = #"{"features": {"docs": {"quickNavigation": {"enable": true}}}}"#
    try Data(settings.utf8).write(to: site.appending(path: "theme-settings.json"))
    // DocC has no page there; a server of files shows its "not found" to visitors of the site's address.
    try Data(rootPage.utf8).write(to: site.appending(path: "index.html"))
  }

  private static func groups(of pages: [SitePage], _ folders: [String: String]) -> [LandingPage.Group] {
    let articles = pages.filter(\.isArticle)
    let siblings = Dictionary(grouping: folders.keys) { folders[$0] ?? "" }.mapValues { Set($0) }
    let modules = Dictionary(grouping: pages.filter { !$0.isArticle }) { page in
      let folder = folders[page.title] ?? ""
      return ModuleGroup(of: page.title, in: folder, among: siblings[folder] ?? [])
    }
    func isTable(_ page: SitePage) -> Bool { page.url.hasSuffix("/logcodes") || page.url.hasSuffix("/errorcodes") }
    let (abouts, guides) = (
      articles.filter { $0.url.contains("/about-") }, articles.filter { !$0.url.contains("/about-") }
    )
    return [
      LandingPage.Group("Packages: what each is, and what it promises", abouts),
      LandingPage.Group("Guides", guides.filter { !isTable($0) }),
    ] + ModuleGroup.allCases.map { LandingPage.Group($0.rawValue, modules[$0] ?? []) }
  }

  private static func check(_ site: URL) throws {
    let pages = try pages(of: site)
    let dead = try deadLinks(among: pages)
    for link in dead { print(link) }
    print("\(pages.count) pages, \(dead.count) dead links")
    if !dead.isEmpty { exit(1) }
  }
}
