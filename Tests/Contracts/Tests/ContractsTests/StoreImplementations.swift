import StoreInterop
import StoreInteropContracts
import Testing
import VestaMemoryStore

@Suite struct StoreImplementations {
  static let all: [Implementation<StoreSubject>] = [
    Implementation("ModelStore") { StoreSubject(store: ModelStore()) },
    Implementation("MemoryStore") { StoreSubject(store: MemoryStore()) },
  ]

  @Test(arguments: all) func keepsEveryPromise(_ implementation: Implementation<StoreSubject>) async {
    await implementation.keeps(StoreContracts.all)
  }
}
