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
  name: "PostgresIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Functions"),
    .package(path: "../../Packages/Messaging"),
    .package(path: "../../Packages/Postgres"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/Storage"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .executableTarget(
      name: "PostgresPeer",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "PostgresEventPeer",
      dependencies: [
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "PostgresAppPeer",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "PostgresIntegrationTests",
      dependencies: [
        "PostgresAppPeer",
        "PostgresEventPeer",
        "PostgresPeer",
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaPostgres", package: "Postgres"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthBackendContracts", package: "AuthBackend"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
