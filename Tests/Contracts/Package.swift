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
    .package(path: "../../Interop/ContractInterop"),
    .package(path: "../../Interop/AnalyticsInterop"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/FirestoreInterop"),
    .package(path: "../../Interop/IdentityInterop"),
    .package(path: "../../Interop/MessagingInterop"),
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
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "AnalyticsInterop", package: "AnalyticsInterop"),
        .product(name: "AnalyticsInteropContracts", package: "AnalyticsInterop"),
        .product(name: "AnalyticsInteropFakes", package: "AnalyticsInterop"),
        .product(name: "AppCheckInterop", package: "AppCheckInterop"),
        .product(name: "AppCheckInteropContracts", package: "AppCheckInterop"),
        .product(name: "AppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "AuthInterop", package: "AuthInterop"),
        .product(name: "AuthInteropContracts", package: "AuthInterop"),
        .product(name: "AuthInteropFakes", package: "AuthInterop"),
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "CryptoInteropContracts", package: "CryptoInterop"),
        .product(name: "FirestoreInterop", package: "FirestoreInterop"),
        .product(name: "FirestoreInteropContracts", package: "FirestoreInterop"),
        .product(name: "FirestoreReference", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "IdentityInterop", package: "IdentityInterop"),
        .product(name: "IdentityInteropContracts", package: "IdentityInterop"),
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "MessagingInterop", package: "MessagingInterop"),
        .product(name: "MessagingInteropContracts", package: "MessagingInterop"),
        .product(name: "MessagingInteropFakes", package: "MessagingInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "StoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaMemoryStore", package: "MemoryStore"),
        .product(name: "VestaSQLite", package: "SQLite"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
