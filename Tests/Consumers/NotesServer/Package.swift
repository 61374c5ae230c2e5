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
  name: "NotesServer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Interop/AuthBackend"),
    .package(path: "../../../Interop/ServiceInterop"),
    .package(path: "../../../Interop/TransportInterop"),
    .package(path: "../../../Packages/Auth"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/Firestore"),
    .package(path: "../../../Packages/MemoryStore"),
    .package(path: "../../../Packages/SQLite"),
    .package(path: "../../../Packages/Transport"),
  ],
  targets: [
    .target(
      name: "NotesService",
      dependencies: [
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "NotesServer",
      dependencies: [
        "NotesService",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "NotesServiceTests",
      dependencies: [
        "NotesService",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
