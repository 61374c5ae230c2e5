// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "CommandLine",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Auth"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/Firestore"),
    .package(path: "../../../Packages/SQLite"),
    .package(path: "../../../Packages/Server"),
    .package(path: "../../../Packages/Storage"),
    .package(path: "../../../Packages/Transport"),
  ],
  targets: [
    .executableTarget(
      name: "Notes",
      dependencies: [
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServer", package: "Server"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageRemote", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaTransport", package: "Transport"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
