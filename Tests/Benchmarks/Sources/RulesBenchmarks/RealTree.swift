import VestaRules

private let ada: RulesValue = ["uid": "ada", "token": ["sub": "ada"]]
private let messageFields = ["userId", "name", "message", "timestamp"]

/// The decision about a new message of a chat room, by hand.
private func mayWriteMessage(
  _ path: [String], _ auth: RulesValue, now: Double, before: DatabaseTree, after: DatabaseTree
) -> Bool {
  guard path.count == 3, path[0] == "room-messages", case .map(let auth) = auth, case .string(let uid)? = auth["uid"]
  else { return false }
  let isModerator = before.node(at: ["moderators", uid]).exists
  guard !before.node(at: path).exists || isModerator else { return false }
  let room = before.tree(at: ["room-metadata", path[1]])
  guard
    room.node(at: ["type"]) != .leaf(.string("private"), priority: .null)
      || room.node(at: ["authorizedUsers", uid]).exists
  else { return false }
  switch before.node(at: ["suspensions", uid]) {
  case .missing: break
  case .leaf(.number(let end), _): guard end < now else { return false }
  default: return false
  }
  guard case .parent(let children, _) = after.tree(at: path) else { return false }
  return messageFields.allSatisfy { children[$0] != nil }
}

extension RealDecision {
  /// A new message of a chat room, whose rules look at the room, at moderators and at suspensions.
  @Sendable static func leaf() throws(RealRulesets.Absence) -> RealDecision {
    let rules = try RealRulesets.databaseRuleset("database-firechat.json")
    let before = DatabaseTree.parent([
      "room-metadata": .parent([
        "r1": .parent(["name": .leaf(.string("Room")), "type": .leaf(.string("public"))])
      ]),
      "moderators": .parent(["grace": .leaf(.bool(true))]),
    ])
    let path = ["room-messages", "r1", "m1"]
    let message = DatabaseTree.parent([
      "userId": .leaf(.string("ada")), "name": .leaf(.string("Ada")), "message": .leaf(.string("hello")),
      "timestamp": .leaf(.number(1_780_000_000_000)),
    ])
    let (after, now) = (before.setting(message, at: path), 1_780_000_000_000.0)
    return RealDecision(label: "a message in a chat room of the tree", microseconds: 10, count: 30_000) {
      rules.decideWrite([path], auth: ada, now: now, before: before, after: after).isAllowed
    } byHand: {
      mayWriteMessage(path, ada, now: now, before: before, after: after)
    }
  }
}
