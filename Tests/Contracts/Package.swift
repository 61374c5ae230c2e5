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
  name: "Contracts",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/AnalyticsInterop"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CredentialInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/MessagingInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/MemoryStore"),
    .package(path: "../../Packages/SQLite"),
  ],
  targets: [
    .testTarget(
      name: "ContractsTests",
      dependencies: [
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAnalyticsInterop", package: "AnalyticsInterop"),
        .product(name: "VestaAnalyticsInteropContracts", package: "AnalyticsInterop"),
        .product(name: "VestaAnalyticsInteropFakes", package: "AnalyticsInterop"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropContracts", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropContracts", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropContracts", package: "CryptoInterop"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreBackendContracts", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreReference", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaCredentialInterop", package: "CredentialInterop"),
        .product(name: "VestaCredentialInteropContracts", package: "CredentialInterop"),
        .product(name: "VestaCredentialInteropFakes", package: "CredentialInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthBackendContracts", package: "AuthBackend"),
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaMessagingInterop", package: "MessagingInterop"),
        .product(name: "VestaMessagingInteropContracts", package: "MessagingInterop"),
        .product(name: "VestaMessagingInteropFakes", package: "MessagingInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
