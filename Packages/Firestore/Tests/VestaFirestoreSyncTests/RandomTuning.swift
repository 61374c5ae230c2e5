import VestaFirestoreSync
import VestaTesting

extension SyncTuning {
  /// Small figures at which the behavior of a client changes, drawn at random.
  static func random(_ random: inout SplitMix) -> SyncTuning {
    var tuning = SyncTuning()
    tuning.pipelineLimit = 1 + random.below(10)
    tuning.limboLimit = 1 + random.below(3)
    tuning.awaitedSeconds = [0.1, 1, 30][random.below(3)]
    tuning.resumeTokenSeconds = [1, 10, 300][random.below(3)]
    tuning.indexedSize = 1 + random.below(100)
    tuning.largeSize = tuning.indexedSize + random.below(1_000)
    tuning.durableIndexes = random.below(17)
    tuning.indexPart = 1 + random.below(100)
    tuning.candidateLimit = 1 + random.below(100)
    tuning.candidatesPerResult = random.below(5)
    tuning.spareCandidates = random.below(65)
    tuning.firstEntries = 1 + random.below(16)
    tuning.residentQueries = random.below(5)
    tuning.exactReplays = random.below(4)
    tuning.readAttempts = 1 + random.below(3)
    tuning.acknowledgedDocuments = 50 + random.below(1_000)
    tuning.idleSeconds = [0.5, 5, 60][random.below(3)]
    tuning.pauses.maximum = [0.5, 5, 60][random.below(3)]
    return tuning
  }
}
