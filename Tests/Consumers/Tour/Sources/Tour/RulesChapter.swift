import VestaRules
import VestaRulesTesting

// Security rules, tested like any other code: no server, no emulator, and a reason for every refusal.
@Sendable
func rulesChapter(_ guide: Guide) async throws {
  var rules = try RulesTester(
    firestore: """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents/notes/{note} {
          allow read: if request.auth.uid == resource.data.owner;
          allow create: if request.resource.data.owner == request.auth.uid && note.size() < 20;
        }
      }
      """)
  rules.documents["notes/n1"] = ["owner": "ada"]
  try rules.allows(get: "notes/n1", as: .user("ada"))
  try rules.denies(get: "notes/n1", as: .nobody)
  try guide.show("a rules file is compiled, and asked who may read", rules.ruleset.warnings.isEmpty)

  try rules.allows(query: "notes", where: .field(["owner"], .equal, "ada"), as: .user("ada"))
  try rules.denies(query: "notes", as: .user("ada"))
  try guide.show("a query is allowed where its filter proves the rule for every result", true)

  do {
    try rules.allows(get: "notes/n1", as: .user("eve"))
    try guide.show("a check that does not hold is an error", false)
  } catch let failure as RulesTestFailure {
    for line in failure.description.split(separator: "\n").prefix(4) { guide.note(String(line)) }
    try guide.show(
      "a check that does not hold says why", failure.description.contains("resource.data.owner  →  'ada'"))
  }

  try rules.denies(set: "notes/n2", to: ["owner": "eve"], as: .user("ada"))
  let lines = rules.coverage.lcov().split(separator: "\n").filter { $0.hasPrefix("DA:") && !$0.hasSuffix(",0") }
  try guide.show("coverage knows the lines that the checks have reached: \(lines.count)", lines.count == 2)

  var tree = try DatabaseRulesTester(#"{"rules": {"$user": {".write": "auth.uid === $user"}}}"#)
  tree.data = ["ada": "here"]
  try tree.allows(set: "ada", to: "away", as: .user("ada"))
  try tree.denies(set: "ada", to: "gone", as: .user("eve"))
  try guide.show("the rules of the Realtime Database and of Storage are tested in the same way", true)

  // One that does not compile is refused with every error at its place.
  do {
    _ = try Ruleset("service cloud.firestore { match /a { allow read: if ; } }", for: .firestore)
    try guide.show("a wrong rules file is refused", false)
  } catch let error as RulesetError {
    guide.note(error.issues.first { $0.severity == .error }.map { "\($0)" } ?? "")
    try guide.show("a wrong rules file is refused with its errors and their places", !error.issues.isEmpty)
  }
}
