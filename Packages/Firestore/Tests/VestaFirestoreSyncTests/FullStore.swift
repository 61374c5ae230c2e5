import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store whose commits fail while it says so.
struct FullStore {
  let store = HookedStore(isShared: true)
  let isFull = Locked(false)

  init() {
    store.hook { [isFull] step in
      guard step == .write, isFull.withLock({ $0 }) else { return }
      throw StoreError(.diskFull, operation: "write", message: "The disk is full.")
    }
  }
}
