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
  name: "TodoList",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Database"),
    .package(path: "../../../Packages/Firestore"),
    .package(path: "../../../Packages/Postgres"),
    .package(path: "../../../Packages/SQLite"),
  ],
  targets: [
    .executableTarget(
      name: "TodoList",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
