import VestaFirestoreIndexes
import VestaFirestoreService
import VestaTesting

extension SplitMix {
  /// A size that may be very small; one of three is that of production.
  fileprivate mutating func size(_ production: Int) -> Int {
    switch below(3) {
    case 0: production
    case 1: 1 + below(4)
    default: 1 + below(24)
    }
  }

  /// A number of bytes: of one row, of a few, or that of production.
  fileprivate mutating func bytes(of production: Int) -> Int { pick([1, 40, 200, 700, production]) }

  fileprivate mutating func page(_ production: PageSize) -> PageSize {
    PageSize(documents: size(production.documents), bytes: bytes(of: production.bytes), rows: size(production.rows))
  }
}

extension EngineTuning {
  /// Sizes from 1 on: what appears with thousands of documents in production appears with a few.
  ///
  /// The results of all calls are the same. The failing calls are the same too, but for the numbers of databases.
  static func random(seed: UInt64) -> EngineTuning {
    var data = SplitMix(seed: seed &* 0x9E37_79B9 &+ 77)
    var tuning = EngineTuning()
    // All values of one group are often the values of production, so that no fault hides behind another one.
    if !data.oneIn(4) { tuning.entries.draw(&data) }
    if !data.oneIn(4) { tuning.queries.draw(&data) }
    if !data.oneIn(4) { tuning.log.draw(&data) }
    if !data.oneIn(4) { tuning.recent.draw(&data) }
    if !data.oneIn(4) { tuning.listening.draw(&data) }
    if !data.oneIn(4) { tuning.indexes.draw(&data) }
    if !data.oneIn(4) { tuning.commits.draw(&data) }
    let administration = tuning.administration
    tuning.administration.exportLength = data.size(administration.exportLength)
    tuning.administration.importedDocuments = data.size(administration.importedDocuments)
    tuning.administration.clearedDocuments = data.size(administration.clearedDocuments)
    return tuning
  }
}

extension EntryTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    largestBatch = data.size(largestBatch)
    batchBytes = data.bytes(of: batchBytes)
    jumpingBatch = data.size(jumpingBatch)
    countedTogether = data.size(countedTogether)
    slice = data.size(slice)
  }
}

extension QueryTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    (firstPage, nextPage) = (data.page(firstPage), data.page(nextPage))
    wholePage = data.page(wholePage)
    (firstBatch, largestBatch) = (data.size(firstBatch), data.size(largestBatch))
    (readUnknown, likelyEntries) = (data.size(readUnknown), data.size(likelyEntries))
    (raceBudget, raceTolerance) = (data.size(raceBudget), data.size(raceTolerance))
    spareResults = data.size(spareResults)
    scannedTogether = data.size(scannedTogether)
    (firstNames, mostNames) = (data.size(firstNames), data.size(mostNames))
    listPage = data.size(listPage)
    countedNames = data.size(countedNames)
    rowsBetweenChecks = data.size(rowsBetweenChecks)
  }
}

extension LogTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    (rowLimit, changeRowLimit) = (data.bytes(of: rowLimit), data.bytes(of: changeRowLimit))
    (page, changePage, partsTogether) = (data.size(page), data.size(changePage), data.size(partsTogether))
    stepsBack = data.size(stepsBack)
    (unsortedCommits, unsortedBytes) = (data.size(unsortedCommits), data.bytes(of: unsortedBytes))
    (sortStep, sortBytes) = (data.size(sortStep), data.bytes(of: sortBytes))
    (pruneStep, pruneBytes) = (data.size(pruneStep), data.bytes(of: pruneBytes))
    answerStep = data.size(answerStep)
  }
}

extension RecentTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    markBits = data.pick([0, 1, 3, markBits])
    unknownCommits = data.size(unknownCommits)
    (checkedRows, checkedBytes) = (data.size(checkedRows), data.bytes(of: checkedBytes))
    announcedCommits = data.size(announcedCommits)
  }
}

extension ListenTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    (spare, spareBytes) = (data.size(spare), data.bytes(of: spareBytes))
    mostSkipped = data.pick([0, 1, mostSkipped])
    requeries = data.pick([0, 1, requeries])
    (documentsInTurn, startsInTurn) = (data.size(documentsInTurn), data.pick([0, 1, 2, startsInTurn]))
    callsInPlace = data.pick([0, 1, 2, callsInPlace])
    jobs = data.size(jobs)
    betweenBytes = data.bytes(of: betweenBytes)
  }
}

extension IndexTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    (wishes, failures) = (data.size(wishes), data.size(failures))
    (entriesInRun, documentsInPage) = (data.size(entriesInRun), data.size(documentsInPage))
    (firstPart, smallestPart, largestPart) = (data.size(firstPart), data.size(smallestPart), data.size(largestPart))
    sweepStep = data.size(sweepStep)
  }
}

extension CommitTuning {
  fileprivate mutating func draw(_ data: inout SplitMix) {
    manyElements = data.size(manyElements)
    bytesTakenApart = data.bytes(of: bytesTakenApart)
    attemptsBefore = data.pick([0, 1, attemptsBefore])
    contendedDocuments = data.size(contendedDocuments)
  }
}
