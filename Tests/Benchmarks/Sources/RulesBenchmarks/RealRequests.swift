import VestaRules

private let root = "/databases/(default)/documents"
private let ada: RulesValue = [
  "uid": "ada", "token": ["email": "ada@example.com", "email_verified": true, "sub": "ada"],
]

// MARK: Reading values by hand

extension RulesValue {
  /// A member of a map.
  func at(_ name: String) -> RulesValue? {
    guard case .map(let map) = self else { return nil }
    return map[name]
  }

  /// The text of a string.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}

private func uid(_ request: RulesRequest) -> String? { request.auth?.at("uid")?.text }

/// An answer for every lookup.
private struct OneDocument: RulesDocuments, Sendable {
  let document: RulesMap
  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .found(document) }
}

extension RealDecision {
  /// A get of a user's integrations among fifteen collections, most of them public.
  @Sendable static func get() throws(RealRulesets.Absence) -> RealDecision {
    let rules = try RealRulesets.ruleset("firestore-community-platform.rules")
    let request = RulesRequest(
      .get, RulesPath(root + "/user_integrations/ada"), auth: ada, existing: ["id": "ada", "data": ["enabled": true]])
    return RealDecision(label: "a get of own integrations", microseconds: 2) {
      rules.decide(request).isAllowed
    } byHand: {
      request.path.segments.count >= 5 && request.path.segments[3] == "user_integrations"
        && uid(request) == request.existing?.at("id")?.text
    }
  }

  // MARK: An update

  private static let admins: Set = [
    "akrolsmir@gmail.com", "jahooma@gmail.com", "taowell@gmail.com", "abc.sinclair@gmail.com",
    "manticmarkets@gmail.com", "iansphilips@gmail.com", "d4vidchee@gmail.com", "ingawei@gmail.com", "marshall@pol.rs",
  ]
  private static let ownFields: Set = [
    "userDeleted", "bio", "website", "twitterHandle", "discordHandle", "shouldShowWelcome",
    "hasSeenContractFollowModal", "homeSections", "optOutAreYouSureWarnings",
  ]
  private static let referralFields: Set = ["referredByUserId", "referredByContractId", "referredByGroupId"]

  private static func mayUpdateUser(_ request: RulesRequest) -> Bool {
    let segments = request.path.segments
    guard segments.count == 5, segments[3] == "users" else { return false }
    if let email = request.auth?.at("token")?.at("email")?.text, admins.contains(email) { return true }
    guard segments[4] == uid(request), case .map(let new)? = request.resource?.at("data"),
      case .map(let old)? = request.existing?.at("data")
    else { return false }
    var affected = new.members.filter { old[$0.name] != $0.value }.map(\.name)
    affected += old.members.filter { new[$0.name] == nil }.map(\.name)
    if affected.allSatisfy(ownFields.contains) { return true }
    return affected.allSatisfy(referralFields.contains) && old["referredByUserId"] == nil
      && new["referredByUserId"].map { $0.text != segments[4] } ?? false
  }

  /// An update of some fields of the user's own profile, behind a list of administrators.
  @Sendable static func update() throws(RealRulesets.Absence) -> RealDecision {
    let rules = try RealRulesets.ruleset("firestore-manifold-2023.rules")
    let old: RulesValue = [
      "name": "Ada", "username": "ada", "avatarUrl": "https://a.example/ada.png", "bio": "x", "website": "a.example",
      "balance": 1_000, "createdTime": 1_700_000_000_000, "followerCountCached": 7, "homeSections": ["a", "b"],
    ]
    let new: RulesValue = [
      "name": "Ada", "username": "ada", "avatarUrl": "https://a.example/ada.png", "bio": "y", "website": "b.example",
      "balance": 1_000, "createdTime": 1_700_000_000_000, "followerCountCached": 7, "homeSections": ["a", "b"],
    ]
    let request = RulesRequest(
      .update, RulesPath(root + "/users/ada"), auth: ada, resource: ["data": new], existing: ["data": old])
    return RealDecision(label: "an update of the own profile", microseconds: 15, count: 50_000) {
      rules.decide(request).isAllowed
    } byHand: {
      mayUpdateUser(request)
    }
  }

  // MARK: A creation

  private static let messageFields: Set = [
    "ownerUid", "conversationId", "role", "text", "createdAt", "clientMessageId", "thoughts", "model", "finishReason",
    "inputTokenCount", "outputTokenCount", "schemaVersion",
  ]

  private static func mayCreateUserMessage(_ request: RulesRequest, _ documents: OneDocument) -> Bool {
    let segments = request.path.segments
    guard segments.count == 7, segments[3] == "conversations", segments[5] == "messages", let uid = uid(request) else {
      return false
    }
    let path = RulesPath(["databases", segments[1], "documents", "conversations", segments[4]])
    guard case .found(let conversation) = documents.lookUp(.get, path),
      conversation["data"]?.at("ownerUid")?.text == uid, case .map(let data)? = request.resource?.at("data"),
      data.count == messageFields.count, data.members.allSatisfy({ messageFields.contains($0.name) }),
      let text = data["text"]?.text, (1...20_000).contains(text.utf16.count)
    else { return false }
    return data["ownerUid"]?.text == uid && data["conversationId"]?.text == segments[4]
      && data["role"]?.text == "user" && data["createdAt"] == request.time && data["schemaVersion"] == 1
      && ["thoughts", "model", "finishReason", "inputTokenCount", "outputTokenCount"].allSatisfy { data[$0] == .null }
  }

  /// A message of a conversation, through fourteen functions and with a lookup of the conversation.
  @Sendable static func create() throws(RealRulesets.Absence) -> RealDecision {
    let rules = try RealRulesets.ruleset("firestore-pyric-chat.rules")
    let time = RulesValue.timestamp(RulesTimestamp(seconds: 1_780_000_000))
    let message: RulesValue = [
      "ownerUid": "ada", "conversationId": "c1", "role": "user", "text": "hello", "createdAt": time,
      "clientMessageId": "m1", "thoughts": nil, "model": nil, "finishReason": nil, "inputTokenCount": nil,
      "outputTokenCount": nil, "schemaVersion": 1,
    ]
    let request = RulesRequest(
      .create, RulesPath(root + "/conversations/c1/messages/m1"), auth: ada, resource: ["data": message], time: time)
    let documents = OneDocument(document: ["data": ["ownerUid": "ada"]])
    return RealDecision(label: "a message through many functions", microseconds: 20, count: 30_000) {
      rules.decide(request, documents: documents).isAllowed
    } byHand: {
      mayCreateUserMessage(request, documents)
    }
  }

  // MARK: An upload

  private static let contentTypes: Set = ["image/jpeg", "image/png", "image/webp", "application/pdf", "text/plain"]

  private static func mayUpload(_ request: RulesRequest, _ documents: OneDocument) -> Bool {
    let segments = request.path.segments
    guard segments.count == 10, segments[3] == "users", segments[5] == "conversations", segments[7] == "attachments",
      let uid = uid(request), uid == segments[4],
      case .found(let conversation) = documents.lookUp(
        .get, RulesPath(["databases", "(default)", "documents", "conversations", segments[6]])),
      conversation["data"]?.at("ownerUid")?.text == uid, case .int(let size)? = request.resource?.at("size"),
      let type = request.resource?.at("contentType")?.text
    else { return false }
    return size > 0 && size <= 10 << 20 && contentTypes.contains(type)
  }

  /// An upload of an attachment, with a lookup in Firestore.
  @Sendable static func upload() throws(RealRulesets.Absence) -> RealDecision {
    let rules = try RealRulesets.ruleset("storage-pyric-chat.rules", for: .storage)
    let name = "users/ada/conversations/c1/attachments/a1/a.png"
    let request = RulesRequest(
      .create, RulesPath("/b/bucket/o/" + name), auth: ada,
      resource: ["size": 2048, "contentType": "image/png", "name": .string(name)])
    let documents = OneDocument(document: ["data": ["ownerUid": "ada"]])
    return RealDecision(label: "an upload that looks into Firestore", microseconds: 10) {
      rules.decide(request, documents: documents).isAllowed
    } byHand: {
      mayUpload(request, documents)
    }
  }
}
