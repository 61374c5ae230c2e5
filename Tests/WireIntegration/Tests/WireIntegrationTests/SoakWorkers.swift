import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabase
import VestaFirestore
import VestaInstallationsBackend
import VestaMessaging
import VestaMessagingBackend
import VestaServiceInterop
import VestaStorage
import VestaTesting

/// Commits batches that count and add a document, so that each lost one and each doubled one shows.
struct DocumentWorker: Sendable {
  let db: Firestore

  /// - Returns: The number of batches.
  func run(until isOver: @Sendable () -> Bool) async throws -> Int {
    var count = 0
    while !isOver() {
      let batch = db.batch()
      batch.setData(["n": FieldValue.increment(Int64(1))], forDocument: db.document("counters/all"), merge: true)
      batch.setData(["n": count], forDocument: db.document("notes/\(count)"))
      count += 1
      if count % 4 == 0 { try await batch.commit() } else { try await batch.startCommit().localCommit() }
      try await Task.sleep(for: .milliseconds(5))
    }
    return count
  }

  static func check(_ truth: Firestore, _ count: Int) async throws {
    let counter = try await truth.document("counters/all").getDocument(source: .server)
    #expect(counter.get("n") as? Int == count, "batches that were applied, of \(count)")
    let names = try await truth.collection("notes").getDocuments(source: .server).documents.map(\.documentID)
    #expect(Set(names) == Set((0..<count).map { "\($0)" }))
  }
}

/// Sets values of the tree, a few at a time, and waits for no answer in between.
struct TreeWorker: Sendable {
  let root: DatabaseReference
  private let answers = EventLog<Bool>(patience: .seconds(240))

  init(_ root: DatabaseReference) { self.root = root }

  func run(until isOver: @Sendable () -> Bool) async throws -> Int {
    var count = 0
    while !isOver() {
      if answers.events.count + 20 > count {
        root.child("n/\(count)").setValue(count) { [answers] error, _ in answers.record(error == nil) }
        count += 1
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    return count
  }

  func check(_ truth: DatabaseReference, _ count: Int) async throws {
    try await answers.wait(for: "the answers of the tree") { $0.count == count }
    #expect(answers.events.allSatisfy { $0 })
    let found = try await truth.child("n").getData()
    #expect(Int(found.childrenCount) == count)
    for number in 0..<count { #expect(found.childSnapshot(forPath: "\(number)").value as? Int == number) }
  }
}

/// Uploads files, and downloads some of them.
struct FileWorker: Sendable {
  let files: StorageReference
  let seed: UInt64

  func content(_ number: Int) -> Data {
    var random = SplitMix(seed: seed &+ UInt64(number))
    return Data(random.bytes(number % 3 == 0 ? 1_500_000 : 1_000 + random.below(200_000)))
  }

  /// - Returns: The number of files that were stored.
  func run(until isOver: @Sendable () -> Bool) async throws -> Int {
    var count = 0
    while !isOver() {
      _ = try await files.child("\(count)").putDataAsync(content(count))
      if count % 2 == 0 {
        let data = try await files.child("\(count)").data(maxSize: 4 << 20)
        #expect(data == content(count), "the download of file \(count)")
      }
      count += 1
    }
    return count
  }

  func check(_ truth: StorageReference, _ count: Int) async throws {
    let names = try await truth.listAll().items.map(\.name)
    #expect(Set(names) == Set((0..<count).map { "\($0)" }) && names.count == count)
    for number in 0..<count {
      let file = truth.child("\(number)")
      #expect(try await file.data(maxSize: 4 << 20) == content(number), "the content of file \(number)")
      #expect(try await file.getMetadata().metageneration == 1)
    }
  }
}

/// Sends messages as the owner, and receives them as a client.
struct MessageWorker: Sendable {
  let messaging: Messaging
  let admin: any MessagingAdminBackend
  private let taken = EventLog<String>(patience: .seconds(240))

  init(_ messaging: Messaging, _ admin: any MessagingAdminBackend) {
    (self.messaging, self.admin) = (messaging, admin)
  }

  /// - Returns: The messages that were accepted, and those whose outcome is not known.
  func run(until isOver: @Sendable () -> Bool) async throws -> (accepted: Set<String>, unknown: Set<String>) {
    let token = try await messaging.token()
    var (accepted, unknown, number): (Set<String>, Set<String>, Int) = ([], [], 0)
    while !isOver() {
      number += 1
      let message = PushMessage(to: .token(token), data: ["number": "\(number)"])
      do {
        _ = try await admin.send(message, isValidateOnly: false, context: .owner)
        accepted.insert("\(number)")
      } catch {
        // Only a call that was not sent, or was answered in the place of the service, may be made again.
        #expect([.unavailable, .deadlineExceeded].contains(error.code), "\(error)")
        unknown.insert("\(number)")
      }
      try await Task.sleep(for: .milliseconds(30))
    }
    return (accepted, unknown)
  }

  func receive() async {
    for await message in messaging.foregroundMessages { taken.record(message.data["number"] ?? "") }
  }

  func check(_ sent: (accepted: Set<String>, unknown: Set<String>)) async throws {
    let accepted = sent.accepted
    try await taken.wait(for: "every accepted message") { accepted.isSubset(of: $0) }
    let all = taken.events
    #expect(Set(all).count == all.count, "messages that were taken twice")
    #expect(Set(all).subtracting(accepted).isSubset(of: sent.unknown))
  }
}

/// Has the token of an installation refused again and again.
struct InstallationWorker: Sendable {
  let source: any InstallationSource

  /// - Returns: The ids that the installation had.
  func run(until isOver: @Sendable () -> Bool) async throws -> Set<String> {
    var ids: Set<String> = []
    while !isOver() {
      if let credential = try? await source.credential() {
        ids.insert(credential.id)
        source.tokenWasRefused(credential.token)
      }
      try await Task.sleep(for: .milliseconds(100))
    }
    return ids
  }
}
