import Foundation
import Testing

@testable import Site

@Suite struct SiteTests {
  private func json(_ text: String) -> Data { Data(text.utf8) }

  @Test func `a README becomes an article without links to files`() {
    let readme = """
      # Auth

      Users, see [Core](../Core/README.md).

      - `VestaAuth`: [a site](https://example.com/a).

      ```swift
      let link = "[a](b)"
      ```
      """
    let expected = """
      # About Auth

      Users, see Core.

      ## Overview

      - `VestaAuth`: [a site](https://example.com/a).

      ```swift
      let link = "[a](b)"
      ```
      """
    #expect(article(fromReadme: readme, title: "About Auth") == expected)
  }

  @Test func `the page at the root leads to the landing page, below a path too`() {
    #expect(rootPage.contains("content=\"0; url=documentation/\"") && rootPage.contains("<a href=\"documentation/\">"))
    #expect(!rootPage.contains("=\"/"))
  }

  @Test func `a README whose second part has a heading needs no other one`() {
    #expect(article(fromReadme: "# A\n\nText.\n\n## B\n", title: "T") == "# T\n\nText.\n\n## B\n")
    #expect(article(fromReadme: "", title: "T") == "# T\n\n\n## Overview\n")
  }

  @Test(arguments: [
    ("VestaAuth", "Packages/Auth", ModuleGroup.clients), ("VestaAuthService", "Packages/Auth", .engines),
    ("VestaAuthWire", "Packages/Auth", .others), ("VestaSQLite", "Packages/SQLite", .plugIns),
    ("VestaAuthBackend", "Interop/AuthBackend", .seams), ("VestaAuthBackendFakes", "Interop/AuthBackend", .tests),
    ("VestaRules", "Packages/Rules", .rules), ("VestaBytes", "Packages/Core", .core),
    ("VestaTesting", "Packages/Core", .tests), ("FirebaseAuth", "Packages/FirebaseCompat", .firebase),
    ("VestaServer", "Packages/Server", .server),
  ])
  func `a module is listed by its part`(module: String, folder: String, group: ModuleGroup) {
    #expect(ModuleGroup(of: module, in: folder, among: ["VestaAuth", "VestaAuthService"]) == group)
  }

  @Test func `pages of modules and articles are read, others are left out`() {
    func page(_ kind: String, _ symbol: String) -> Data {
      json(
        #"{"kind": "\#(kind)", "identifier": {"url": "doc://a"}, "metadata": {"title": "A", "symbolKind": "\#(symbol)"}, "#
          + #""variants": [{"paths": ["/documentation/a"]}], "abstract": [{"text": "Says "}, {"code": "a"}]}"#)
    }
    let module = SitePage(
      identifier: "doc://a", title: "A", url: "/documentation/a", abstract: "Says a", isArticle: false)
    #expect(SitePage(json: page("symbol", "module")) == module)
    #expect(SitePage(json: page("article", ""))?.isArticle == true)
    #expect(SitePage(json: page("symbol", "class")) == nil)
    #expect(SitePage(json: json("[]")) == nil)
  }

  @Test func `the landing page and the index have the groups in their order`() throws {
    let (auth, guide) = (
      SitePage(
        identifier: "doc://auth", title: "Auth", url: "/documentation/auth", abstract: "Users.", isArticle: false),
      SitePage(identifier: "doc://g", title: "Guide", url: "/documentation/auth/g", abstract: "", isArticle: true)
    )
    let landing = LandingPage([.init("Guides", [guide]), .init("Empty", []), .init("Clients", [auth])])
    let page = try #require(
      try JSONSerialization.jsonObject(with: try landing.page(replacing: json(#"{"kind": "article"}"#)))
        as? [String: Any])
    #expect((page["topicSections"] as? [[String: Any]])?.map { $0["title"] as? String } == ["Guides", "Clients"])
    #expect((page["references"] as? [String: Any])?.keys.sorted() == ["doc://auth", "doc://g"])
    #expect(page["kind"] as? String == "article")

    let index = try landing.index(
      replacing: json(
        #"{"interfaceLanguages": {"swift": [{"title": "All", "children": [{"path": "/documentation/auth", "children": [1]}]}]}}"#
      ))
    let text = String(decoding: index, as: UTF8.self)
    #expect(text.contains(#""children":[1]"#) && text.contains("groupMarker") && !text.contains("Empty"))
    #expect(throws: SiteError.self) { try landing.index(replacing: json("{}")) }
    #expect(throws: (any Error).self) { try landing.page(replacing: json("no JSON")) }
  }

  @Test func `links that lead nowhere are found`() throws {
    let pages = [
      "/documentation/a": json(
        """
        {"references": {
          "1": {"type": "topic", "url": "/documentation/B#Part"}, "2": {"type": "topic", "url": "/documentation/b#None"},
          "3": {"type": "section", "url": "/documentation/c"}, "4": {"type": "link", "url": "https://example.com"},
          "5": {"type": "link", "url": "../README.md"}, "6": {"type": "unresolvable", "title": "Swift.Error"},
          "7": {"type": "image", "url": "x"}
        }}
        """),
      "/documentation/b": json(#"{"primaryContentSections": [{"content": [{"type": "heading", "anchor": "Part"}]}]}"#),
    ]
    #expect(
      try deadLinks(among: pages).map(\.description) == [
        "/documentation/a: there is no ../README.md", "/documentation/a: there is no /documentation/b#None",
        "/documentation/a: there is no /documentation/c",
      ])
    #expect(throws: (any Error).self) { try deadLinks(among: ["/a": json("[]")]) }
  }
}
