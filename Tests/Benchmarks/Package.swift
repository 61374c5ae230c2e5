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
  name: "Benchmarks",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "vesta-bench", targets: ["vesta-bench"]),
    .executable(name: "vesta-bench-postgres", targets: ["vesta-bench-postgres"]),
    .executable(name: "vesta-bench-server", targets: ["vesta-bench-server"]),
    .executable(name: "vesta-bench-transport", targets: ["vesta-bench-transport"]),
  ],
  dependencies: [
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Functions"),
    .package(path: "../../Packages/MemoryStore"),
    .package(path: "../../Packages/Messaging"),
    .package(path: "../../Packages/Postgres"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/Rules"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Packages/Server"),
    .package(path: "../../Packages/Storage"),
    .package(path: "../../Packages/Transport"),
  ],
  targets: [
    .executableTarget(
      name: "vesta-bench",
      dependencies: [
        "BenchmarkKit", "ConcurrencyBenchmarks", "CoreBenchmarks", "CryptoBenchmarks", "StoreBenchmarks",
        "AuthBenchmarks", "DatabaseBenchmarks", "FirestoreBenchmarks", "FunctionsBenchmarks", "MessagingBenchmarks",
        "GuardBenchmarks", "RemoteConfigBenchmarks", "RulesBenchmarks", "StorageBenchmarks",
        "WireBenchmarks",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-postgres", dependencies: ["BenchmarkKit", "PostgresBenchmarks"], swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-guards", dependencies: ["BenchmarkKit", "GuardBenchmarks"], swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-rules", dependencies: ["BenchmarkKit", "RulesBenchmarks"], swiftSettings: settings),
    // Its allocator counts; the lines of the rules read what it prints.
    .executableTarget(
      name: "vesta-rules-allocations", dependencies: ["BenchmarkKit", "CVestaCountingAllocator", "RulesBenchmarks"],
      swiftSettings: settings),
    .target(name: "CVestaCountingAllocator"),
    // The program itself is started as a separate process.
    .executableTarget(
      name: "vesta-bench-server",
      dependencies: ["BenchmarkKit", "ServerBenchmarks", .product(name: "vesta", package: "Server")],
      swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-remote", dependencies: ["BenchmarkKit", "RemoteBenchmarks"], swiftSettings: settings),
    // A program as applications are: its size is measured.
    .executableTarget(
      name: "vesta-remote-program",
      dependencies: [
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTransport", package: "Transport"),
      ],
      swiftSettings: settings),
    .target(
      name: "RemoteBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreEndpoints", package: "Firestore"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaServer", package: "Server"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageRemote", package: "Storage"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-transport", dependencies: ["BenchmarkKit", "TransportBenchmarks"], swiftSettings: settings),
    .executableTarget(
      name: "vesta-bench-wire", dependencies: ["BenchmarkKit", "WireBenchmarks"], swiftSettings: settings),
    .target(name: "BenchmarkKit", swiftSettings: settings),
    .target(
      name: "WireBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
      ], swiftSettings: settings),
    .target(
      name: "RulesBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaPatterns", package: "Core"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesTesting", package: "Rules"),
      ], swiftSettings: settings),
    .target(
      name: "AuthBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropFakes", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ], swiftSettings: settings),
    .target(
      name: "ConcurrencyBenchmarks",
      dependencies: ["BenchmarkKit", .product(name: "VestaConcurrency", package: "Core")], swiftSettings: settings),
    .target(
      name: "CoreBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
      ], swiftSettings: settings),
    .target(
      name: "CryptoBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "CVestaOpenSSL", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCrypto", package: "Crypto"),
      ], swiftSettings: settings),
    .target(
      name: "DatabaseBenchmarks",
      dependencies: [
        "BenchmarkKit",
        "SQLiteBaseline",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ], swiftSettings: settings),
    .target(
      name: "FunctionsBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ], swiftSettings: settings),
    .target(
      name: "ServerBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ], swiftSettings: settings),
    .target(
      name: "StorageBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ], swiftSettings: settings),
    .target(
      name: "FirestoreBenchmarks",
      dependencies: [
        "BenchmarkKit",
        "SQLiteBaseline",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ], swiftSettings: settings),
    .target(
      name: "GuardBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesGuards", package: "Rules"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ], swiftSettings: settings),
    .target(
      name: "MessagingBenchmarks",
      dependencies: [
        "BenchmarkKit",
        "SQLiteBaseline",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ], swiftSettings: settings),
    .target(
      name: "PostgresBaseline",
      dependencies: [.product(name: "CVestaPostgres", package: "Postgres")], swiftSettings: settings),
    .target(
      name: "PostgresBenchmarks",
      dependencies: [
        "BenchmarkKit", "PostgresBaseline",
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaPostgresTesting", package: "Postgres"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ], swiftSettings: settings),
    .target(
      name: "RemoteConfigBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ], swiftSettings: settings),
    .target(
      name: "SQLiteBaseline",
      dependencies: [.product(name: "CVestaSQLite", package: "SQLite")], swiftSettings: settings),
    .target(
      name: "StoreBenchmarks",
      dependencies: [
        "BenchmarkKit",
        "SQLiteBaseline",
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ], swiftSettings: settings),
    .target(
      name: "TransportBenchmarks",
      dependencies: [
        "BenchmarkKit",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
