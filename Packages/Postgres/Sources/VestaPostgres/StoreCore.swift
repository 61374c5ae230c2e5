import VestaConcurrency
import VestaStoreInterop

/// The parts of an open store that its bodies use.
struct StoreCore: Sendable {
  let schema: Schema
  let pool: ConnectionPool
  let leader: CommitLeader
  let reports: CommitReports
}
