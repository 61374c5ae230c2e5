/// Turns the README of a package into an article of a documentation catalogue.
///
/// Links to files of the repository become plain text, because a site has none of them; links to the web stay.
///
/// - Parameters:
///   - readme: The text of the README.
///   - title: The title of the article.
public func article(fromReadme readme: String, title: String) -> String {
  var lines = readme.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  if lines.first?.hasPrefix("# ") == true { lines.removeFirst() }
  var isCode = false
  let body = lines.map { line in
    if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
    return isCode ? line : withoutFileLinks(line)
  }
  // The first paragraph is the abstract; what follows it needs a heading.
  let text = body.drop { $0.isEmpty }
  let abstract = text.prefix { !$0.isEmpty }
  let rest = text.dropFirst(abstract.count).drop { $0.isEmpty }
  let heading = rest.first?.hasPrefix("## ") == true ? [] : ["## Overview", ""]
  return (["# \(title)", ""] + abstract + [""] + heading + rest).joined(separator: "\n")
}

/// A line in which a link that names no address of the web is its text alone.
func withoutFileLinks(_ line: String) -> String {
  line.replacing(/\[(?<text>[^\]\[]*)\]\((?<target>[^)\s]*)\)/) { match in
    let target = match.output.target
    return target.hasPrefix("http://") || target.hasPrefix("https://")
      ? String(match.output.0) : String(match.output.text)
  }
}
