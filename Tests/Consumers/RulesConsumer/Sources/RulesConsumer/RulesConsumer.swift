import VestaRules

/// Compiles rules and asks them about reads and a query.
@main
enum RulesConsumer {
  static let source = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents/notes/{note} {
        allow read: if request.auth.uid == resource.data.owner;
      }
    }
    """

  static func main() throws {
    let ruleset = try Ruleset(source, for: .firestore)
    let root = RulesPath("/databases/(default)/documents")
    let note: RulesValue = .map(["data": .map(["owner": .string("ada")])])
    let (ada, eve): (RulesValue, RulesValue) = (.map(["uid": .string("ada")]), .map(["uid": .string("eve")]))
    let path = RulesPath(root.segments + ["notes", "n1"])
    let own = RulesQuery("notes", below: root, filter: .field(["owner"], .equal, .string("ada")))
    let answers = [
      ruleset.decide(RulesRequest(.get, path, auth: ada, existing: note)).isAllowed,
      !ruleset.decide(RulesRequest(.get, path, auth: eve, existing: note)).isAllowed,
      ruleset.decide(own, auth: ada).isAllowed,
      !ruleset.decide(RulesQuery("notes", below: root), auth: ada).isAllowed,
    ]
    guard answers.allSatisfy({ $0 }) else { throw WrongAnswer(answers: answers) }
    print("rules: \(answers.count) answers as expected")
  }
}

struct WrongAnswer: Error { let answers: [Bool] }
