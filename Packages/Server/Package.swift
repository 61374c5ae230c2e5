// swift-tools-version: 6.2
import PackageDescription

// A composition root: it links products and plug-ins into one program, as a program does, and nothing depends on it.

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Server",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "vesta", targets: ["vesta"]),
    .library(name: "VestaServer", targets: ["VestaServer"]),
  ],
  dependencies: [
    .package(path: "../AppCheck"),
    .package(path: "../Auth"),
    .package(path: "../Core"),
    .package(path: "../Crypto"),
    .package(path: "../Database"),
    .package(path: "../Firestore"),
    .package(path: "../Functions"),
    .package(path: "../Installations"),
    .package(path: "../MemoryStore"),
    .package(path: "../Messaging"),
    .package(path: "../Postgres"),
    .package(path: "../RemoteConfig"),
    .package(path: "../Rules"),
    .package(path: "../SQLite"),
    .package(path: "../Storage"),
    .package(path: "../Transport"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaServer",
      dependencies: [
        .product(name: "VestaAppCheckEndpoints", package: "AppCheck"),
        .product(name: "VestaAppCheckService", package: "AppCheck"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthEndpoints", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaDatabaseEndpoints", package: "Database"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreEndpoints", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctionsEndpoints", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaInstallationsEndpoints", package: "Installations"),
        .product(name: "VestaInstallationsService", package: "Installations"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaMessagingEndpoints", package: "Messaging"),
        .product(name: "VestaMessagingPush", package: "Messaging"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRemoteConfigEndpoints", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesGuards", package: "Rules"),
        .product(name: "VestaRulesTesting", package: "Rules"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStorageEndpoints", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "vesta",
      dependencies: [
        "VestaServer",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaServerTests",
      dependencies: [
        "VestaServer",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
