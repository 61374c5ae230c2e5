import Foundation
import VestaCore
import VestaSQLite
import VestaStoreInterop

// Every engine keeps its data behind one contract: an ordered map of bytes with transactions. Here it is a SQLite file.
@Sendable
func storageChapter(_ guide: Guide) async throws {
  let options = guide.options("store")
  let app = try VestaApp.configure(options: options, libraries: [SQLiteLibrary.self])
  let provider = try app.container.require((any StoreProvider).self)

  var store = try await provider.openStore(named: "fruit", in: app.dataPath, options: StoreOptions())
  let commit = try await store.write { transaction in
    for fruit in ["cherry", "apple", "banana"] { try await transaction.put(bytes("ripe"), for: bytes(fruit)) }
  }
  let names = try await store.read { reader in
    try await reader.entries(in: .all).map { String(decoding: $0.key, as: UTF8.self) }
  }
  try guide.show("keys come back in order: \(names)", Array(names.prefix(3)) == ["apple", "banana", "cherry"])

  struct Dropped: Error {}
  do {
    try await store.write { transaction in
      try await transaction.deleteRange(.all)
      throw Dropped()
    }
  } catch is Dropped {}
  let count = try await store.read { try await $0.entries(in: .all).count }
  try guide.show("a transaction that fails leaves nothing behind", count == names.count)

  // One number for all runs.
  let before = try await store.read { try await $0.get(bytes("total"))?.count ?? 0 }
  try await withThrowingTaskGroup { group in
    for _ in 0..<32 {
      group.addTask { [store] in
        try await store.write { transaction in
          let total = try await transaction.get(bytes("total"))?.count ?? 0
          try await transaction.put([UInt8](repeating: 1, count: total + 1), for: bytes("total"))
        }
      }
    }
    try await group.waitForAll()
  }
  let after = try await store.read { try await $0.get(bytes("total"))?.count ?? 0 }
  try guide.show("32 tasks added to one number at once: \(before) became \(after)", after == before + 32)

  try await store.close()
  store = try await provider.openStore(named: "fruit", in: app.dataPath, options: StoreOptions())
  let (version, apple) = try await store.read { ($0.version, try await $0.get(bytes("apple"))) }
  try guide.show(
    "opened anew, everything is there, at \(version)", apple == bytes("ripe") && version > commit.version)
  try await store.close()
  await app.delete()
}

@Sendable
private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
