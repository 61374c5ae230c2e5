public import BenchmarkKit
import VestaPatterns
import VestaRules

/// The cost of decisions, compared with the same decision written by hand in Swift.
public func rulesBenchmarks() -> [Benchmark] {
  [
    get, update, create, upload, leaf, query, wideQuery, siblings, coverage, trace, traceText, compileSmall,
    compileLarge, hostilePattern, assertions,
  ]
  .compactMap { $0 }
}

private let root = "/databases/(default)/documents"
private let ada: RulesValue = [
  "uid": "ada", "token": ["email": "ada@example.com", "email_verified": true, "sub": "ada"],
]

private func compiled(_ source: String, _ service: RulesService = .firestore) -> Ruleset? {
  do throws(RulesetError) {
    return try Ruleset(source, for: service)
  } catch {
    print("a ruleset of the benchmarks is refused: \(error)")
    return nil
  }
}

private func inDocuments(_ text: String) -> String {
  "rules_version = '2';\nservice cloud.firestore {\n  match /databases/{database}/documents {\n\(text)\n  }\n}\n"
}

/// A line for a request, with what must be decided.
private func line(
  _ name: String, _ label: String, count: Int = 100_000, microseconds: Double, _ ruleset: Ruleset?,
  _ request: RulesRequest, _ documents: any RulesDocuments & Sendable = NoRulesDocuments(),
  byHand: @escaping @Sendable (RulesRequest) -> Bool
) -> Benchmark? {
  guard let ruleset else { return nil }
  precondition(ruleset.decide(request, documents: documents).isAllowed && byHand(request), name)
  return Benchmark(
    name: name, unit: .nanoseconds, bar: .both(figure: microseconds * 1_000, ratio: 10),
    ours: (label, { sum(count) { ruleset.decide(request, documents: documents).isAllowed ? 1 : 0 } }),
    other: ("the same by hand", { sum(count) { byHand(request) ? 1 : 0 } }),
    samples: { samples(20_000) { ruleset.decide(request, documents: documents).isAllowed ? 1 : 0 } })
}

// MARK: Reading values by hand

extension RulesValue {
  fileprivate func at(_ name: String) -> RulesValue? {
    guard case .map(let map) = self else { return nil }
    return map[name]
  }

  fileprivate var names: [String] {
    guard case .map(let map) = self else { return [] }
    return map.members.map(\.name)
  }

  fileprivate var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}

private func uid(_ request: RulesRequest) -> String? { request.auth?.at("uid")?.text }

// MARK: Requests

/// Among fifteen collections with public and private parts, one document of an own integration.
private var get: Benchmark? {
  let collections = (0..<15).map {
    "match /collection\($0)/{document=**} { allow read: if isPublic(); allow write: if false; }"
  }
  let source = inDocuments(
    """
    function isPublic() { return true; }
    function isOwn() { return request.auth.uid == resource.id; }
    \(collections.joined(separator: "\n"))
    match /integrations/{user} { allow read: if isOwn(); }
    """)
  let request = RulesRequest(
    .get, RulesPath(root + "/integrations/ada"), auth: ada, existing: ["id": "ada", "data": ["enabled": true]])
  return line("rules-get", "a get of an own document", microseconds: 2, compiled(source), request) { request in
    request.path.segments.count == 5 && request.path.segments[3] == "integrations"
      && uid(request) == request.existing?.at("id")?.text
  }
}

private let profile: RulesValue = ["bio": "x", "name": "Ada", "website": "a.example", "age": 36, "city": "London"]

private var update: Benchmark? {
  let source = inDocuments(
    """
    function isAdmin() { return request.auth.token.email in ['a@b.example', 'b@b.example', 'c@b.example']; }
    match /users/{userId} {
      allow read;
      allow update: if isAdmin();
      allow update: if userId == request.auth.uid
        && request.resource.data.diff(resource.data).affectedKeys().hasOnly(['bio', 'website', 'city', 'homeSections']);
    }
    """)
  let new: RulesValue = ["bio": "y", "name": "Ada", "website": "b.example", "age": 36, "city": "London"]
  let request = RulesRequest(
    .update, RulesPath(root + "/users/ada"), auth: ada, resource: ["data": new], existing: ["data": profile])
  return line("rules-update", "an update of some fields", microseconds: 15, compiled(source), request) { request in
    guard request.path.segments.count == 5, request.path.segments[3] == "users",
      request.path.segments[4] == uid(request), case .map(let new)? = request.resource?.at("data"),
      case .map(let old)? = request.existing?.at("data")
    else { return false }
    let allowed: Set = ["bio", "website", "city", "homeSections"]
    let changed = new.members.filter { old[$0.name] != $0.value }.map(\.name)
    let removed = old.members.filter { new[$0.name] == nil }.map(\.name)
    return (changed + removed).allSatisfy(allowed.contains)
  }
}

/// An answer for every lookup.
private struct OneDocument: RulesDocuments, Sendable {
  let document: RulesMap
  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .found(document) }
}

private var create: Benchmark? {
  let fields = ["ownerUid", "conversationId", "role", "text", "createdAt", "thoughts", "model", "schemaVersion"]
  let list = "[" + fields.map { "'\($0)'" }.joined(separator: ", ") + "]"
  let source = inDocuments(
    """
    function isSignedIn() { return request.auth != null; }
    function isOwner(userId) { return isSignedIn() && request.auth.uid == userId; }
    function hasRequired(fields) { return request.resource.data.keys().hasAll(fields); }
    function hasOnly(fields) { return request.resource.data.keys().hasOnly(fields); }
    function validString(field, min, max) {
      return request.resource.data[field] is string && request.resource.data[field].size() >= min
        && request.resource.data[field].size() <= max;
    }
    function conversation(id) { return /databases/$(database)/documents/conversations/$(id); }
    function owns(id) {
      return isSignedIn() && exists(conversation(id)) && get(conversation(id)).data.ownerUid == request.auth.uid;
    }
    match /conversations/{id}/messages/{message} {
      allow create: if owns(id) && hasRequired(\(list)) && hasOnly(\(list)) && isOwner(request.resource.data.ownerUid)
        && request.resource.data.conversationId == id && request.resource.data.role == 'user'
        && validString('text', 1, 20000) && request.resource.data.thoughts == null
        && request.resource.data.createdAt == request.time && request.resource.data.schemaVersion == 1;
    }
    """)
  let time = RulesValue.timestamp(RulesTimestamp(seconds: 1_780_000_000))
  let message: RulesValue = [
    "ownerUid": "ada", "conversationId": "c1", "role": "user", "text": "hello", "createdAt": time, "thoughts": nil,
    "model": nil, "schemaVersion": 1,
  ]
  let request = RulesRequest(
    .create, RulesPath(root + "/conversations/c1/messages/m1"), auth: ada, resource: ["data": message], time: time)
  let documents = OneDocument(document: ["data": ["ownerUid": "ada"]])
  return line(
    "rules-create", "a create through many functions", count: 30_000, microseconds: 20, compiled(source), request,
    documents
  ) {
    request in
    let segments = request.path.segments
    guard segments.count == 7, segments[3] == "conversations", segments[5] == "messages", let uid = uid(request),
      let data = request.resource?.at("data"), Set(data.names) == Set(fields)
    else { return false }
    let path = RulesPath(["databases", segments[1], "documents", "conversations", segments[4]])
    guard case .found(let found) = documents.lookUp(.get, path), found["data"]?.at("ownerUid")?.text == uid,
      let text = data.at("text")?.text, (1...20_000).contains(text.utf16.count)
    else { return false }
    return data.at("ownerUid")?.text == uid && data.at("conversationId")?.text == segments[4]
      && data.at("role")?.text == "user" && data.at("thoughts") == .null && data.at("createdAt") == request.time
      && data.at("schemaVersion") == 1
  }
}

private var upload: Benchmark? {
  let source = """
    rules_version = '2';
    service firebase.storage {
      match /b/{bucket}/o {
        match /users/{uid}/files/{id}/{name} {
          allow write: if request.auth != null && request.auth.uid == uid
            && firestore.get(/databases/(default)/documents/files/$(id)).data.ownerUid == request.auth.uid
            && request.resource.size > 0 && request.resource.size <= 10 * 1024 * 1024
            && (request.resource.contentType == 'image/jpeg' || request.resource.contentType == 'image/png');
        }
        match /{allPaths=**} { allow read, write: if false; }
      }
    }
    """
  let request = RulesRequest(
    .create, RulesPath("/b/bucket/o/users/ada/files/f1/a.png"), auth: ada,
    resource: ["size": 2048, "contentType": "image/png", "name": "users/ada/files/f1/a.png"])
  let documents = OneDocument(document: ["data": ["ownerUid": "ada"]])
  return line(
    "rules-upload", "an upload that looks into Firestore", microseconds: 10, compiled(source, .storage), request,
    documents
  ) {
    request in
    let segments = request.path.segments
    guard segments.count == 8, segments[3] == "users", segments[5] == "files", let uid = uid(request),
      uid == segments[4],
      case .found(let found) = documents.lookUp(
        .get, RulesPath(["databases", "(default)", "documents", "files", segments[6]])),
      found["data"]?.at("ownerUid")?.text == uid, case .int(let size)? = request.resource?.at("size")
    else { return false }
    let type = request.resource?.at("contentType")?.text
    return size > 0 && size <= 10 << 20 && (type == "image/jpeg" || type == "image/png")
  }
}
