// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// The modules of products: upstream's name, and what it re-exports and registers.
let products = ["Auth", "Firestore", "Database", "Storage", "RemoteConfig", "Messaging", "Functions"]
/// The modules without a product behind them: upstream's name, Vesta's module and its package.
let shared = [
  ("FirebaseSharedSwift", "VestaDataCoding", "Core"), ("FirebaseAuthInterop", "VestaAuthInterop", "AuthInterop"),
  ("FirebaseMessagingInterop", "VestaMessagingInterop", "MessagingInterop"),
  ("FirebaseAppCheckInterop", "VestaAppCheckInterop", "AppCheckInterop"),
]
let modules = ["FirebaseCore"] + products.map { "Firebase\($0)" } + shared.map(\.0)

let core: [Target] = [
  .target(name: "CVestaFirebaseCoreStart"),
  .target(
    name: "FirebaseCore",
    dependencies: [
      "CVestaFirebaseCoreStart",
      .product(name: "VestaCore", package: "Core"),
      .product(name: "VestaCrypto", package: "Crypto"),
      .product(name: "VestaSQLite", package: "SQLite"),
    ],
    swiftSettings: settings
  ),
]
let productTargets = products.flatMap { name -> [Target] in
  [
    .target(name: "CVestaFirebase\(name)Start"),
    .target(
      name: "Firebase\(name)",
      dependencies: [
        "FirebaseCore", .target(name: "CVestaFirebase\(name)Start"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "Vesta\(name)", package: name),
        .product(name: "Vesta\(name)Service", package: name),
      ],
      swiftSettings: settings
    ),
  ]
}
let sharedTargets: [Target] = shared.map { name, module, package in
  .target(name: name, dependencies: [.product(name: module, package: package)], swiftSettings: settings)
}

// The programs of the Firebase SDK's users are compiled as they are: in both language modes, with default settings.
let tests: [Target] = [("Swift5", SwiftLanguageMode.v5), ("Swift6", .v6)].map { name, mode in
  .testTarget(
    name: "Upstream\(name)Tests", dependencies: modules.map { .target(name: $0) },
    swiftSettings: [.swiftLanguageMode(mode)])
}

let package = Package(
  name: "FirebaseCompat",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: modules.map { .library(name: $0, targets: [$0]) },
  dependencies: [
    .package(path: "../Core"), .package(path: "../Crypto"), .package(path: "../SQLite"),
    .package(path: "../../Interop/AppCheckInterop"), .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/MessagingInterop"),
  ] + products.map { .package(path: "../\($0)") },
  targets: core + productTargets + sharedTargets + tests,
  swiftLanguageModes: [.v6]
)
