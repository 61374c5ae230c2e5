/// Every rule, in the order in which it is reported.
let rules: [@Sendable (House) -> [Violation]] = [
  productsDependOnCoreAndInterop,
  modulesKeepTheirRole,
  interopDependsOnTheGroundFloor,
  testingStaysInTests,
  targetsNameTheirProducts,
  modulesHaveThePrefix,
  coreKnowsNoProduct,
  systemLibrariesStayInPlugins,
  platformCodeSitsInOneFile,
  nothingDependsOnARoot,
  seamsHaveContractsAndFakes,
  contractsMeetTheirImplementations,
  manifestsAreAlike,
  importsAreDeclared,
  packagesSayWhatTheyAre,
  readmesLeadIn,
  pathsInTextsExist,
  manifestLinesLeadSomewhere,
  theDrawingIsComplete,
  foldersHaveNamesOfTheirOwn,
  foundationStaysOut,
  mutexStaysOut,
  unsafeWordsHaveReasons,
  nothingTraps,
  failuresReturnToTheirCaller,
  waitsHaveAClock,
  pathsAreDividedByBytes,
  logCodesAreUnique,
  logPrefixesBelongToOneModule,
  logCodesAreRegistered,
  errorCodesAreExplained,
  filesStayShort,
  circlesStaySmall,
  typesStaySmall,
  commentsFitTheScreen,
  commentsArePlain,
  textsArePlain,
  testsArePlain,
  publicNamesAreDocumented,
  summariesNameTheThing,
  nothingNamesAMachine,
]

/// Checks a tree against every rule.
///
/// - Parameter tree: The files of a repository; files that no rule looks at may be absent.
/// - Returns: The violations, sorted by rule, then path, then line; empty for a tree that keeps the laws.
public func check(_ tree: Tree) -> [Violation] {
  let house = House(tree)
  return rules.flatMap { rule in
    rule(house).sorted { ($0.path, $0.line) < ($1.path, $1.line) }
  }
}
